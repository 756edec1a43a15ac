"""count: the cells of a table, which are all that a release is made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from shoal.api.inputs import spec_of
from shoal.data.spec import Spec
from shoal.engines import Engine, default_engine, write_cells
from shoal.groups import Progress, silent


def count(
    data: Any,
    spec: Spec,
    out: str | Path | None = None,
    *,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> pl.DataFrame:
    """Counts how many rows have which values of the spec's columns.

    `anonymize`, `plan` and `verify` take such a file for the table: count where the rows are, and
    work elsewhere. Cells are as private as the table.

    Args:
        data: A frame, or the path or URL of a table.
        spec: Which columns are counted.
        out: The Parquet file to make.
        engine: Who counts the rows; Polars on this machine unless given.
        progress: Called with a step's name, how much of it is done, and of how much.

    Returns:
        The cells: every combination that occurs, and how many rows have it.

    Raises:
        InputError: A column is missing, or the table cannot be counted.

    >>> import shoal
    >>> hospital = shoal.datasets.hospital(2000, seed=0)
    >>> spec = shoal.Spec(
    ...     qi=["sex", "region"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=5
    ... )
    >>> cells = shoal.count(hospital, spec, "cells.parquet")
    >>> int(cells["rows"].sum())
    2000
    >>> shoal.anonymize("cells.parquet", spec).robust
    True
    """
    chosen = engine or default_engine()
    counted = chosen.counted(data, spec_of(data, spec, engine=chosen), progress=progress)
    return counted.cells if out is None else write_cells(counted, out, spec)
