"""The cells of a Spark frame: counted on the cluster, stored there, and read here.

Collecting them would bring them through the driver's memory twice, and wide ones have killed small
executors. How many there are is estimated before they are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from shoal.engines.counting import ROWS, columns_of
from shoal.engines.spark.kinds import received, sent
from shoal.engines.spark.rows import KEY, SparkRows, key_of
from shoal.engines.spark.scratch import SCRATCH, address, private_scratch
from shoal.errors import InputError
from shoal.sources import read_table
from shoal.sources.delimited import check_columns
from shoal.spec import Spec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SURE = 1.25
"""An estimate that is by so much too large is no accident: estimates are off by some 5 %."""
NAMED = 4
"""So many columns are named at most where there are too many cells."""


def count_cells(frame: DataFrame, spec: Spec, *, most: int) -> tuple[pl.DataFrame, SparkRows]:
    """The cells of a frame, and how many rows each has, with where these are. Of all columns only
    QIs and sensitive ones are read."""
    names = _names(frame, spec)
    numbers = {name: f"c{number}" for number, name in enumerate(frame.columns)}
    prepared = _prepared(frame, names)
    columns = [numbers[name] for name in names]
    chosen = prepared.select(*columns)
    rows, about = _sizes(chosen)
    if about > SURE * most:
        raise _too_many(chosen, names, f"about {about:,}", most)
    with private_scratch(frame.sparkSession) as scratch:
        cells = _stored(chosen, scratch / "cells") if rows else _none(chosen)
    if cells.height > most:
        raise _too_many(chosen, names, f"{cells.height:,}", most)
    if cells[ROWS].sum() != rows:
        raise _unseen(f"The cells of {cells[ROWS].sum():,} of {rows:,} rows")
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    found = pl.DataFrame(received(cells[numbers[name]].alias(name), kinds[name]) for name in names)
    who = {name: numbers[name] for name in spec.identifiers}
    keys, counts = cells[KEY].to_numpy(), cells[ROWS].to_numpy()
    return found, SparkRows(prepared, columns, who, keys, counts)


def _names(frame: DataFrame, spec: Spec) -> list[str]:
    """The columns to count by, which must be there once each."""
    names = columns_of(spec)
    check_columns([*names, *spec.identifiers], frame.columns)
    for name in names:
        if frame.columns.count(name) > 1:
            raise InputError(
                "column-twice",
                f'The frame has two columns called "{name}".',
                "Give every column a name of its own.",
            )
    return names


def _prepared(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """The frame under names that no SQL could take for something else, with the columns to count by
    as they are counted."""
    from pyspark.sql import functions as F  # noqa: N812

    columns = [f"c{number}" for number in range(len(frame.columns))]
    return frame.toDF(*columns).select(
        *(
            (sent(F.col(column), field.dataType, name) if name in names else F.col(column)).alias(
                column
            )
            for column, name, field in zip(columns, frame.columns, frame.schema.fields, strict=True)
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
    keyed = counted.withColumn(KEY, key_of(chosen.columns))
    keyed.write.parquet(address(folder), compression="zstd")
    if not any(folder.glob("*.parquet")):
        raise _unseen("The counted cells")
    return read_table(folder)


def _none(chosen: DataFrame) -> pl.DataFrame:
    return pl.DataFrame(schema=dict.fromkeys([*chosen.columns, ROWS, KEY], pl.Int64))


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
