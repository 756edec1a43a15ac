"""Small products by one thread: several wait for each other longer than they work."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np

_HELD = Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """NumPy's own OpenBLAS takes one thread in the body, and as many as before behind it; other
    builds do as they are set."""
    library: Any = ctypes.CDLL(np.linalg._umath_linalg.__file__)
    number: Callable[[], int] | None = getattr(library, "scipy_openblas_get_num_threads64_", None)
    if number is None:
        yield
        return
    with _HELD:
        before = number()
        library.scipy_openblas_set_num_threads64_(1)
        try:
            yield
        finally:
            library.scipy_openblas_set_num_threads64_(before)
