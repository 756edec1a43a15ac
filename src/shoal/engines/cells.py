"""Counted cells as a file: all that has to travel from where the rows are.

A Parquet file with the QI columns, the sensitive ones and a count, which says of itself what it is.
Cells are as private as the table: who is the only one of their kind is in them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data.sources.formats import file_kind
from shoal.data.sources.read import read_table
from shoal.data.sources.streamed import Rows
from shoal.data.spec import Spec
from shoal.data.storage import replace_file
from shoal.data.table.persons import Persons
from shoal.engines.counting import CountedTable
from shoal.errors import InputError

FORMAT = "shoal-cells/1"
NOTE = b"shoal"


def write_cells(counted: CountedTable, path: str | Path, spec: Spec) -> pl.DataFrame:
    """Writes the cells that a spec asks for, and gives them."""
    import pyarrow.parquet as pq

    if file_kind(Path(path)) != "parquet":
        raise InputError(
            "cells-kind",
            f'Cells are kept as Parquet, and "{path}" is no name for it.',
            "Name a .parquet file.",
        )
    cells = counted.cells
    told: dict[str, Any] = {"format": FORMAT, "count": counted.count.name}
    if counted.persons is not None:
        told["person"] = {"rule": spec.rows_per_person, **counted.persons.to_dict()}
    note = json.dumps(told)
    table = cells.to_arrow()
    with replace_file(path) as new:
        pq.write_table(table.replace_schema_metadata({NOTE: note}), new, compression="zstd")
    return cells


def cells_of(rows: Rows | None) -> CountedTable | None:
    """The cells that were opened as a table, or None if it is something else."""
    return read_cells(rows.files[0]) if rows is not None and len(rows.files) == 1 else None


def read_cells(source: str | Path) -> CountedTable | None:
    """The cells in a file, or None if it is something else."""
    path, told = Path(source), _noted(source)
    if told is None:
        return None
    frame, count = read_table(path), told.get("count")
    if count not in frame.columns:
        raise InputError(
            "cells-rows",
            f'The cells have no column "{count}" of whole numbers.',
            "Count the rows of each combination of values into one.",
        )
    lines, person = frame.drop(count), told.get("person")
    if person is None:
        return CountedTable(lines, frame[count])
    persons = Persons(person["rows"], person["people"])
    return CountedTable(lines, frame[count], persons=persons, rule=person["rule"])


def holds_cells(source: str | Path) -> bool:
    """Whether a file holds cells."""
    return _noted(source) is not None


def _noted(source: str | Path) -> dict[str, Any] | None:
    """What a file of cells says of itself; None for anything else."""
    path = Path(source)
    if "://" in str(source) or file_kind(path) != "parquet" or not path.is_file():
        return None
    import pyarrow.parquet as pq
    from pyarrow import ArrowException

    try:
        note = (pq.read_schema(path).metadata or {}).get(NOTE)
        told = None if note is None else json.loads(note)
    except (ArrowException, OSError, ValueError):
        return None  # whatever it is, reading it says what is wrong with it
    return told if isinstance(told, dict) and told.get("format") == FORMAT else None
