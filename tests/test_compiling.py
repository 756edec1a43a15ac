"""What is said of compiling is said when something is compiled, and only then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from shoal.cli.warm import helped
from shoal.compiling import telling

RUN = """
import shoal.cli.show as show
from shoal.methods.art.kernels import cut, fill  # more than what runs
from shoal.compiling import kernel
from shoal.auditing.adversaries.joint import binary_posterior
with show.progress_bar():
    binary_posterior([0.5, 0.25], 1)
"""


def test_a_run_says_that_it_compiles_once(tmp_path: Path) -> None:
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        pytest.skip("nothing is compiled")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run(
            [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    assert [run.stderr for run in runs] == ["compiling, once\n", ""]


def test_nothing_is_said_when_nothing_is_compiled() -> None:
    said: list[str] = []
    with telling(lambda: said.append("compiling")):
        sum(range(3))
    assert said == []


KERNEL = """
from typing import NamedTuple
class {name}(NamedTuple):
    number: int
from shoal.compiling import kernel
@kernel
def twice(one):
    return 2 * one.number
if __name__ == "__main__":
    import compiled
    print(compiled.twice(compiled.{name}(21)))
"""


def test_what_was_compiled_for_types_that_are_no_more_is_compiled_again(tmp_path: Path) -> None:
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        pytest.skip("nothing is compiled")
    source = tmp_path / "compiled.py"
    for name in ("Before", "After"):
        source.write_text(KERNEL.format(name=name))
        run = subprocess.run([sys.executable, str(source)], capture_output=True, text=True)
        assert (run.stdout, run.stderr) == ("42\n", "")
    assert list(tmp_path.rglob("*.nbi"))


def test_python_may_call_what_is_a_part_of_kernels(tmp_path: Path) -> None:
    """It once ended in a crash: there was no machine code to call."""
    source = """
from shoal.compiling import kernel, part, search_part
@part
def twice(one):
    return 2 * one
@search_part
def more(one):
    return one + _less(twice(one))
@kernel
def _less(one):
    return one - 1
@kernel
def all_of_it(one):
    return more(one)
print(twice(3), _less(3), more(3), all_of_it(3), twice(3.5), all_of_it(3.5))
"""
    (tmp_path / "parts.py").write_text(source)
    run = subprocess.run(
        [sys.executable, str(tmp_path / "parts.py")], capture_output=True, text=True
    )
    assert (run.stdout, run.stderr) == ("6 2 8 8 7.0 9.5\n", "")


ORDERS = """
import sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from orders import above, all_of_it
calls = [lambda: all_of_it(np.arange(9)), lambda: above(np.arange(9), 4)]
if sys.argv[1] == "parts first":
    calls.reverse()
with ThreadPoolExecutor(4) as pool:
    print([int(one.result()) for one in [pool.submit(call) for call in calls * 2]])
"""
KERNELS_OF_KERNELS = """
from shoal.compiling import kernel, part
@part
def twice(one):
    return 2 * one
@kernel
def above(numbers, least):
    found = 0
    for one in numbers:
        found += twice(one) > least
    return found
@kernel
def all_of_it(numbers):
    return above(numbers, 4) + _rest(numbers)
@kernel
def _rest(numbers):
    return 10 * above(numbers, 10)
"""


def test_kernels_are_right_in_any_order_from_any_cache(tmp_path: Path) -> None:
    """Several processes, each with threads, from no cache, from half of one and from all of it."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        pytest.skip("nothing is compiled")
    (tmp_path / "orders.py").write_text(KERNELS_OF_KERNELS)
    (tmp_path / "run.py").write_text(ORDERS)
    answers = {"callers first": "[36, 6, 36, 6]\n", "parts first": "[6, 36, 6, 36]\n"}

    def run(*orders: str) -> None:
        command, pipe = [sys.executable, str(tmp_path / "run.py")], subprocess.PIPE
        began = [
            subprocess.Popen([*command, order], stdout=pipe, stderr=pipe, text=True)
            for order in orders
        ]
        for order, process in zip(orders, began, strict=True):
            assert process.communicate() == (answers[order], "")

    cache = tmp_path / "__pycache__"
    run("callers first", "parts first")
    for half in ("above", "all_of_it"):
        for file in cache.glob(f"orders.{half}-*"):
            file.unlink()
        run("callers first", "parts first")
    run("parts first")
    assert len(list(cache.glob("orders.*.nbi"))) == 2


LOADED = """
import sys
from numba.core.dispatcher import Dispatcher
from shoal.cli import main
sys.argv = ["shoal", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
modules = [module for name, module in sys.modules.items() if name.startswith("shoal")]
found = {one for module in modules for one in vars(module).values()
         if isinstance(one, Dispatcher)}
for one in found:
    for signature in one.signatures:
        print("kernel", one.py_func.__module__ + "." + one.__name__, signature, sep="|")
"""
KERNELS = 30
"""Functions of which a demo makes a file in the cache: what a new machine waits for."""


def _loaded(folder: Path, *command: str) -> set[tuple[str, str]]:
    """The kernels that a command uses, each with the types that it is compiled for."""
    run = subprocess.run(
        [sys.executable, "-c", LOADED, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split("|", 2) for line in run.stdout.splitlines() if line.startswith("kernel|")]
    return {(name, signature) for _, name, signature in lines}


def test_a_demo_compiles_few_kernels_once_each_and_warm_all_of_them(tmp_path: Path) -> None:
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        pytest.skip("nothing is compiled")
    compiled = _loaded(tmp_path, "demo", "--rows", "3000")
    assert len({name for name, _ in compiled}) == len(compiled) <= KERNELS
    assert compiled <= _loaded(tmp_path, "warm")
    helped = _loaded(tmp_path, "warm", "--judge")
    assert len({name for name, _ in compiled | helped}) == len(compiled)
    late = ("deal", "deal"), ("links", "drop_linked"), ("links", "weigh"), ("gather", "gather")
    begun = {name for name, _ in compiled - helped}
    art = "shoal.methods.art.kernels."
    assert all(name.startswith(art) for name in begun)
    assert begun.isdisjoint(art + ".".join(one) for one in late)


def test_another_process_helps_only_where_something_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        pytest.skip("nothing is compiled")
    began: list[subprocess.Popen[bytes]] = []

    def begin(command: list[str], **how: int) -> subprocess.Popen[bytes]:
        assert command[1:] == ["-m", "shoal", "warm", "--judge"]
        began.append(usual([sys.executable, "-c", "import time; time.sleep(60)"]))
        return began[-1]

    usual = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", begin)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with helped():
        pass
    assert began == []
    with helped():
        numba.njit(lambda one: one + 1)(1)
        numba.njit(lambda one: one + 2)(1)
    assert [process.poll() is not None for process in began] == [True]


HOMELESS = """
from numba.core.caching import CacheImpl
CacheImpl._locator_classes = []  # nobody finds a folder that can be written to
from shoal.auditing.adversaries.joint import binary_posterior
from shoal.compiling import kernel
import numpy as np
@kernel
def twice(number):
    return 2 * number
print(twice(21), binary_posterior([0.5, 0.25], 1))
"""


def test_where_nothing_can_be_kept_it_is_compiled_in_every_run() -> None:
    done = subprocess.run([sys.executable, "-c", HOMELESS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("42 ")
