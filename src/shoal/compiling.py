"""The one compilation policy: compiled on first use, cached on disk, free of the GIL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])
_compiled: list[Any] = []


def kernel(function: F) -> F:
    """Compiles a function in strict IEEE arithmetic and registers it for `is_cached`."""
    dispatcher = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    _compiled.append(dispatcher)
    return cast(F, dispatcher)


def search_kernel(function: F) -> F:
    """Compiles a function that only searches: sums may be reordered, so that loops run in vector
    registers. Whatever such a function finds is checked by strict code before it counts."""
    dispatcher = numba.njit(
        cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"}
    )(function)
    _compiled.append(dispatcher)
    return cast(F, dispatcher)


def is_cached() -> bool:
    """Whether the kernels imported so far have been compiled on this machine before."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return True
    return all(
        any(Path(kernel.stats.cache_path).glob(f"*.{kernel.__name__}-*.nbi"))
        for kernel in _compiled
    )
