"""What is said of compiling is said when something is compiled, and only then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

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


DEMO = """
import sys
from numba.core.dispatcher import Dispatcher
from shoal.cli import main
sys.argv = ["shoal", "demo", "--rows", "3000"]
try:
    main()
except SystemExit:
    pass
modules = [module for name, module in sys.modules.items() if name.startswith("shoal")]
found = {one for module in modules for one in vars(module).values()
         if isinstance(one, Dispatcher)}
for one in found:
    print("kernel", one.py_func.__module__ + "." + one.__name__, len(one.signatures))
"""
KERNELS = 30
"""Functions of which a demo makes a file in the cache: what a new machine waits for."""


def test_a_demo_compiles_few_kernels_once_each(tmp_path: Path) -> None:
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        pytest.skip("nothing is compiled")
    run = subprocess.run(
        [sys.executable, "-c", DEMO], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in run.stdout.splitlines() if line.startswith("kernel ")]
    compiled = {name: int(times) for _, name, times in lines if times != "0"}
    assert {name for name, times in compiled.items() if times > 1} == set()
    assert len(compiled) <= KERNELS
