"""What is said of compiling is said when something is compiled, and only then."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import shoal
from shoal.compiling import telling

SOURCE = Path(shoal.__file__).parent

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


def _parts() -> dict[str, set[str]]:
    """By module, the functions that are compiled for kernels alone to call."""
    found: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        module = "shoal." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for one in ast.parse(path.read_text("utf-8")).body:
            named = [each.id for each in getattr(one, "decorator_list", ()) if hasattr(each, "id")]
            if isinstance(one, ast.FunctionDef) and {"part", "search_part"} & {*named}:
                found.setdefault(module, set()).add(one.name)
    return found


def test_python_calls_no_part_of_a_kernel() -> None:
    """A part has no door from Python: whoever calls it ends in a crash."""
    parts, called = _parts(), []
    assert parts
    for path in SOURCE.rglob("*.py"):
        if "kernels" in str(path.relative_to(SOURCE)):
            continue
        tree, known = ast.parse(path.read_text("utf-8")), dict[str, str]()
        for one in ast.walk(tree):
            for name in one.names if isinstance(one, ast.ImportFrom) and one.module else ():
                assert isinstance(one, ast.ImportFrom)
                known[name.asname or name.name] = f"{one.module}.{name.name}"
                if name.name in parts.get(str(one.module), ()):
                    called.append(f"{path.name}: {name.name}")
        for one in ast.walk(tree):
            if not isinstance(one, ast.Attribute) or not isinstance(one.value, ast.Name):
                continue
            if one.attr in parts.get(known.get(one.value.id, ""), ()):
                called.append(f"{path.name}: {one.attr}")
    assert not called
