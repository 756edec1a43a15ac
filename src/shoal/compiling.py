"""The one compilation policy: compiled on first use, cached on disk, free of the GIL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])
_compiled: list[Any] = []


def kernel(function: F) -> F:
    """Compiles a function in strict IEEE arithmetic and registers it for `is_cached`."""
    return _compile(function, fastmath=False)


def search_kernel(function: F) -> F:
    """Compiles a function that only searches: sums may be reordered, so that loops run in vector
    registers. Whatever such a function finds is checked by strict code before it counts."""
    return _compile(function, fastmath={"reassoc", "contract", "nsz"})


def glue(function: F) -> F:
    """Like `kernel`, for a function that calls others and does little itself: it becomes a part of
    its caller before that is compiled. The others would be compiled once more for it otherwise."""
    return _compile(function, fastmath=False, inline="always")


def _compile(
    function: F, *, fastmath: bool | set[str], inline: Literal["never", "always"] = "never"
) -> F:
    """Only kernels call a function whose name begins with an underscore: it becomes a part of
    theirs, without a door from Python or a file in the cache, which would take time to make."""
    inner = function.__name__.startswith("_")
    wrappers = {"no_cpython_wrapper": inner, "no_cfunc_wrapper": True}
    dispatcher = numba.njit(  # type: ignore[call-overload]
        cache=not inner,
        nogil=True,
        error_model="numpy",
        fastmath=fastmath,
        inline=inline,
        **wrappers,
    )(function)
    if not inner and inline == "never":
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
