"""Engines: the only code that touches rows, behind one protocol."""

from __future__ import annotations

from shoal.engines.cells import write_cells
from shoal.engines.counting import Counted
from shoal.engines.engine import Dealt, Engine, Part
from shoal.engines.gathering import gather
from shoal.engines.named import ENGINES
from shoal.engines.runs import GID, Runs
from shoal.errors import InputError


def default_engine() -> Engine:
    """The engine that is used where none is named."""
    return engine_named("polars")


def engine_named(name: str, *, separator: str | None = None, encoding: str | None = None) -> Engine:
    """An engine by its name; how text files are written, if it is not to be found out."""
    if name == "polars":
        from shoal.engines.polars import PolarsEngine

        return PolarsEngine(separator=separator, encoding=encoding)
    if name == "duckdb":
        from shoal.engines.duckdb import DuckDBEngine

        return DuckDBEngine(separator=separator, encoding=encoding)
    raise InputError(
        "engine-unknown", f'There is no engine "{name}".', f"Choose among: {', '.join(ENGINES)}."
    )


__all__ = [
    "ENGINES",
    "GID",
    "Counted",
    "Dealt",
    "Engine",
    "Part",
    "Runs",
    "default_engine",
    "engine_named",
    "gather",
    "write_cells",
]
