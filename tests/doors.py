"""A door from Python to what only kernels call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def door(part: Callable[..., Any]) -> Callable[..., Any]:
    """A function that Python may call, too."""

    @numba.njit
    def call(*given: Any) -> Any:
        return part(*given)

    return call  # type: ignore[no-any-return]
