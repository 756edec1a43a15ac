"""The one compilation policy: compiled on first use, cached on disk, free of the GIL."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, TypeVar, cast

import numba
from numba.core import event
from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.extending import register_jitable

F = TypeVar("F", bound=Callable[..., Any])
SEARCH = {"reassoc", "contract", "nsz"}


def kernel(function: F) -> F:
    """Compiles a function in strict IEEE arithmetic."""
    return _compile(function, fastmath=False)


def search_kernel(function: F) -> F:
    """Compiles a function that only searches: sums may be reordered, so that loops run in vector
    registers. Whatever such a function finds is checked by strict code before it counts."""
    return _compile(function, fastmath=SEARCH)


def part(function: F) -> F:
    """Compiles a function as a part of the kernels that call it, without a file in the cache, which
    would take time to make. From Python it is what it says, uncompiled. So is a kernel whose name
    begins with an underscore."""
    return _part(function, fastmath=False)


def search_part(function: F) -> F:
    """`part` of what only searches."""
    return _part(function, fastmath=SEARCH)


def glue(function: F) -> F:
    """Like `kernel`, for a function that calls others and does little itself: it becomes a part of
    its caller before that is compiled. The others would be compiled once more for it otherwise."""
    return _compile(function, fastmath=False, inline="always")


def _compile(
    function: F, *, fastmath: bool | set[str], inline: Literal["never", "always"] = "never"
) -> F:
    if function.__name__.startswith("_"):
        return _part(function, fastmath=fastmath)
    dispatcher = numba.njit(  # type: ignore[call-overload]
        nogil=True, error_model="numpy", fastmath=fastmath, inline=inline, no_cfunc_wrapper=True
    )(function)
    if isinstance(dispatcher, Dispatcher):
        with suppress(RuntimeError):  # nowhere to keep it: it is compiled in every run
            dispatcher.enable_caching()
            dispatcher._cache._cache_file.__class__ = _Index  # type: ignore[attr-defined]
    return cast(F, dispatcher)


def _part(function: F, *, fastmath: bool | set[str]) -> F:
    jitable = register_jitable(error_model="numpy", fastmath=fastmath, no_cfunc_wrapper=True)
    return jitable(function)


class _Index(IndexDataCacheFile):
    """What was compiled before: nothing, where an earlier version's types are no more."""

    def _load_index(self) -> dict[Any, str]:
        try:
            return dict(super()._load_index())  # type: ignore[no-untyped-call]
        except (AttributeError, ImportError):
            return {}


@contextmanager
def telling(say: Callable[[], None]) -> Iterator[None]:
    """Calls `say` when the first kernel is compiled in the body; one that is read from the cache
    is not."""
    with event.install_listener("numba:compile", _First(say)):
        yield


@contextmanager
def clock() -> Iterator[Callable[[], float]]:
    """Gives a clock that stands still while kernels are compiled: seconds since the body began."""
    timed = _Timed()
    with event.install_listener("numba:compile", timed):
        yield timed.seconds


class _Timed(event.Listener):
    """Adds up how long kernels were compiled; one may be compiled for another."""

    def __init__(self) -> None:
        self._depth, self._spent, self._began = 0, 0.0, time.monotonic()
        self._since = self._began

    def seconds(self) -> float:
        now = self._since if self._depth else time.monotonic()
        return now - self._began - self._spent

    def on_start(self, event: event.Event) -> None:
        if not self._depth:
            self._since = time.monotonic()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        if not self._depth:
            self._spent += time.monotonic() - self._since


class _First(event.Listener):
    """Tells of the first event, and of no other."""

    def __init__(self, say: Callable[[], None]) -> None:
        self._say: Callable[[], None] | None = say

    def on_start(self, event: event.Event) -> None:
        say, self._say = self._say, None
        if say is not None:
            say()

    def on_end(self, event: event.Event) -> None:
        pass
