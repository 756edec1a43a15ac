"""Engines: the only code that touches rows, behind one protocol."""

from __future__ import annotations

from typing import Any, Unpack

from shoal.data.table.frames import is_spark_frame
from shoal.engines.cells import write_cells
from shoal.engines.counting import CountedTable
from shoal.engines.engine import Dealt, Distant, Engine, Joining, Near, Part
from shoal.engines.runs import GID, Runs, gather
from shoal.errors import InputError
from shoal.names import ENGINES, Reading


def default_engine() -> Engine:
    """The engine that is used where none is named."""
    return engine_named("polars")


def engine_of(data: Any) -> Engine | None:
    """The engine that holds the rows of data, where that is no choice: Spark's, of its frames."""
    if is_spark_frame(data):
        from shoal.engines.spark import SparkEngine

        return SparkEngine(data.sparkSession)
    return None


def engine_named(name: str, **reading: Unpack[Reading]) -> Engine:
    """An engine by its name; how files are written, if that is not to be found out."""
    if name == "polars":
        from shoal.engines.polars import PolarsEngine

        return PolarsEngine(**reading)
    if name == "duckdb":
        from shoal.engines.duckdb import DuckDBEngine

        return DuckDBEngine(**reading)
    if name == "spark":
        from shoal.engines.spark import SparkEngine

        return SparkEngine(**reading)
    raise InputError(
        "engine-unknown", f'There is no engine "{name}".', f"Choose among: {', '.join(ENGINES)}."
    )


__all__ = [
    "ENGINES",
    "GID",
    "CountedTable",
    "Dealt",
    "Distant",
    "Engine",
    "Joining",
    "Near",
    "Part",
    "Runs",
    "default_engine",
    "engine_named",
    "engine_of",
    "gather",
    "write_cells",
]
