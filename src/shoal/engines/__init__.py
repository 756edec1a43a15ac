"""Engines: the only code that touches rows, behind one protocol."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any, Unpack

from shoal.data.table.frames import is_spark_frame
from shoal.engines.counting import CountedTable, write_cells
from shoal.engines.engine import Dealt, Distant, Engine, Joining, Local, Part
from shoal.engines.runs import GID, Runs, gather
from shoal.errors import unknown
from shoal.names import ENGINES, Reading

_CLASSES = {
    "polars": "shoal.engines.polars:PolarsEngine",
    "duckdb": "shoal.engines.duckdb:DuckDBEngine",
    "spark": "shoal.engines.spark:SparkEngine",
}
"""Imported when they are asked for: a library that one needs may not be there."""


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
    if name not in _CLASSES:
        raise unknown("engine-unknown", f'There is no engine "{name}"', name, ENGINES)
    made: Engine = resolve_name(_CLASSES[name])(**reading)
    return made


__all__ = [
    "ENGINES",
    "GID",
    "CountedTable",
    "Dealt",
    "Distant",
    "Engine",
    "Joining",
    "Local",
    "Part",
    "Runs",
    "default_engine",
    "engine_named",
    "engine_of",
    "gather",
    "write_cells",
]
