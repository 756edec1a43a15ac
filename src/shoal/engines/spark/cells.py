"""The cells of a Spark frame: counted on the cluster, stored there, and read here.

Collecting them would bring them through the driver's memory twice, and wide ones have killed small
executors. How many there are is estimated before they are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from shoal.engines.spark.kinds import received, sent
from shoal.engines.spark.scratch import SCRATCH, address, private_scratch
from shoal.errors import InputError
from shoal.sources import read_table
from shoal.spec import Spec
from shoal.table import check_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = "rows"
SURE = 1.25
"""An estimate that is by so much too large is no accident: estimates are off by some 5 %."""
NAMED = 4
"""So many columns are named at most where there are too many cells."""


def count_cells(frame: DataFrame, spec: Spec, *, most: int) -> tuple[pl.DataFrame, str]:
    """The cells of a frame and, in the column named beside them, how many rows each has. Of the
    frame's columns only QIs and sensitive ones are read."""
    names = _names(frame, spec)
    chosen = _chosen(frame, names)
    rows, about = _sizes(chosen)
    if about > SURE * most:
        raise _too_many(chosen, names, f"about {about:,}", most)
    with private_scratch(frame.sparkSession) as scratch:
        cells = _stored(chosen, scratch / "cells") if rows else _none(chosen)
    if cells.height > most:
        raise _too_many(chosen, names, f"{cells.height:,}", most)
    if cells[ROWS].sum() != rows:
        raise _unseen(f"The cells of {cells[ROWS].sum():,} of {rows:,} rows")
    kinds = dict(zip(frame.columns, frame.schema.fields, strict=True))
    column_of = dict(zip(names, chosen.columns, strict=True))
    counted = _free(names)
    found = [received(cells[column_of[name]].alias(name), kinds[name].dataType) for name in names]
    return pl.DataFrame([*found, cells[ROWS].alias(counted)]), counted


def _names(frame: DataFrame, spec: Spec) -> list[str]:
    """The columns to count by, which must be there once each."""
    check_columns(frame.columns, spec)
    names = list(dict.fromkeys([*spec.qi, *spec.sensitive_columns]))
    for name in names:
        if frame.columns.count(name) > 1:
            raise InputError(
                "column-twice",
                f'The frame has two columns called "{name}".',
                "Give every column a name of its own.",
            )
    return names


def _chosen(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """The columns to count by, under names that no SQL could take for something else."""
    from pyspark.sql import functions as F  # noqa: N812

    place = {name: number for number, name in enumerate(frame.columns)}
    numbered = frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))
    fields = frame.schema.fields
    return numbered.select(
        *(
            sent(F.col(f"c{place[name]}"), fields[place[name]].dataType, name).alias(
                f"c{place[name]}"
            )
            for name in names
        )
    )


def _sizes(chosen: DataFrame) -> tuple[int, int]:
    """How many rows there are, and about how many cells."""
    from pyspark.sql import functions as F  # noqa: N812

    together = F.approx_count_distinct(F.struct(*chosen.columns))
    found = chosen.agg(F.count(F.lit(1)).alias("rows"), together.alias("cells")).collect()[0]
    return int(found["rows"]), int(found["cells"])


def _stored(chosen: DataFrame, folder: Path) -> pl.DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    counted = chosen.groupBy(*chosen.columns).agg(F.count(F.lit(1)).alias(ROWS))
    counted.write.parquet(address(folder), compression="zstd")
    if not any(folder.glob("*.parquet")):
        raise _unseen("The counted cells")
    return read_table(folder)


def _none(chosen: DataFrame) -> pl.DataFrame:
    return pl.DataFrame(schema={**dict.fromkeys(chosen.columns, pl.Int64), ROWS: pl.Int64})


def _unseen(what: str) -> InputError:
    return InputError(
        "spark-scratch",
        f"{what} did not arrive here: executors write to a folder that this machine does not see, "
        "or the table changed while it was counted.",
        f"Set {SCRATCH} to a folder that this machine and all executors see under the same name.",
    )


def _too_many(chosen: DataFrame, names: Sequence[str], cells: str, most: int) -> InputError:
    """Names the columns without which there would be fewest cells."""
    from pyspark.sql import functions as F  # noqa: N812

    columns, parts = chosen.columns, []
    for number, column in enumerate(columns):
        rest = F.struct(F.lit(0), *(F.col(one) for one in columns if one != column))
        parts.append(F.approx_count_distinct(column).alias(f"values{number}"))
        parts.append(F.approx_count_distinct(rest).alias(f"without{number}"))
    found = chosen.agg(*parts).collect()[0]
    by_cells = sorted(range(len(names)), key=lambda number: int(found[f"without{number}"]))
    blamed = "; ".join(
        f'without "{names[number]}" (about {found[f"values{number}"]:,} values) about '
        f"{found[f'without{number}']:,} would be left"
        for number in by_cells[:NAMED]
    )
    return InputError(
        "spark-cells",
        f"The table has {cells} combinations of attributes and sensitive values, and at most "
        f"{most:,} are brought here: {blamed}.",
        "Make one of these columns coarser before it comes to shoal, or leave it out; or allow "
        "more with most_cells.",
    )


def _free(names: Sequence[str]) -> str:
    """A name for the counts that no column has."""
    name = ROWS
    while name in names:
        name = f"{name}_"
    return name
