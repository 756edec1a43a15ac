"""The one compilation policy: compiled on first use, cached on disk, free of the GIL."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, TypeVar, cast

import numba
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

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
    """Compiles a function for kernels alone to call: it becomes a part of theirs, without a door
    from Python or a file in the cache, which would take time to make. So does a kernel whose name
    begins with an underscore."""
    return _compile(function, fastmath=False, inner=True)


def search_part(function: F) -> F:
    """`part` of what only searches."""
    return _compile(function, fastmath=SEARCH, inner=True)


def glue(function: F) -> F:
    """Like `kernel`, for a function that calls others and does little itself: it becomes a part of
    its caller before that is compiled. The others would be compiled once more for it otherwise."""
    return _compile(function, fastmath=False, inline="always")


def _compile(
    function: F,
    *,
    fastmath: bool | set[str],
    inner: bool = False,
    inline: Literal["never", "always"] = "never",
) -> F:
    inner = inner or function.__name__.startswith("_")
    wrappers = {"no_cpython_wrapper": inner, "no_cfunc_wrapper": True}
    dispatcher = numba.njit(  # type: ignore[call-overload]
        cache=not inner,
        nogil=True,
        error_model="numpy",
        fastmath=fastmath,
        inline=inline,
        pipeline_class=_Pipeline,
        **wrappers,
    )(function)
    if not inner and isinstance(dispatcher, Dispatcher):
        dispatcher._cache.__class__ = _Cache  # type: ignore[attr-defined]
        dispatcher._cache._cache_file.__class__ = _Index  # type: ignore[attr-defined]
    return cast(F, dispatcher)


class _Pipeline(Compiler):
    """Numba's own, but machine code is made of what Python calls alone. Numba optimizes and emits
    every function by itself, and once more as a part of each caller."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        codegen = self.state.targetctx.codegen()
        with _made_by(codegen, _Library, partial(_set_env, codegen)):
            return super().compile_extra(func)  # type: ignore[no-untyped-call]


@contextmanager
def _made_by(codegen: Any, library: type, set_env: Callable[..., None]) -> Iterator[None]:
    with global_compiler_lock:
        before = codegen._library_class, codegen.set_env
        codegen._library_class, codegen.set_env = library, set_env
        try:
            yield
        finally:
            codegen._library_class, codegen.set_env = before


class _Cache(FunctionCache):
    """What is read while its caller is compiled has its machine code already."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        codegen = target_context.codegen()
        with _made_by(codegen, JITCodeLibrary, partial(type(codegen).set_env, codegen)):
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]


class _Library(JITCodeLibrary):
    """Code that ends in its callers, unless Python has a door to it."""

    _wanted = False

    def get_pointer_to_function(self, name: str) -> int:
        if not self._wanted and all(one.name != name for one in self._final_module.functions):
            return 0
        self._wanted = True
        return int(super().get_pointer_to_function(name))  # type: ignore[no-untyped-call]

    def _optimize_final_module(self) -> None:
        if self._wanted:
            super()._optimize_final_module()  # type: ignore[no-untyped-call]

    def _finalize_final_module(self) -> None:
        if self._wanted:
            super()._finalize_final_module()  # type: ignore[no-untyped-call]
        self._finalized = True


def _set_env(codegen: Any, name: str, env: Any) -> None:
    """Code that was not emitted needs nothing of its own."""
    if codegen._engine.is_symbol_defined(name):
        type(codegen).set_env(codegen, name, env)


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
