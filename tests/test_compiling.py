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
