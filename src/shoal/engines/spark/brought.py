"""Distinct lines of a Spark frame: counted on the cluster, stored there, and read here.

Collecting them would bring them through the driver's memory twice, and wide ones have killed small
executors. How many there are is estimated before they are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from shoal.data.sources import read_table
from shoal.engines.counting import ROWS
from shoal.engines.spark.rows import KEY, key_of
from shoal.engines.spark.scratch import SCRATCH, address, private_scratch
from shoal.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SURE = 1.25
"""An estimate that is by so much too large is no accident: estimates are off by some 5 %."""
NAMED = 4
"""So many columns are named at most where there are too many lines."""


def brought(chosen: DataFrame, told: Sequence[str], *, whose: str, most: int) -> pl.DataFrame:
    """The distinct lines, how many rows have each, and a hash of each. Where there are more than
    `most`, an InputError says `whose` they are, and names columns to blame by what is `told` of
    them, the first ones."""
    rows, about = _sizes(chosen)
    if about > SURE * most:
        raise _too_many(chosen, told, f"about {about:,}", whose, most)
    with private_scratch(chosen.sparkSession) as scratch:
        lines = _stored(chosen, scratch / "cells") if rows else _none(chosen)
    if lines.height > most:
        raise _too_many(chosen, told, f"{lines.height:,}", whose, most)
    if lines[ROWS].sum() != rows:
        raise _unseen(f"The cells of {lines[ROWS].sum():,} of {rows:,} rows")
    return lines


def _sizes(chosen: DataFrame) -> tuple[int, int]:
    """How many rows there are, and about how many distinct lines."""
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


def _too_many(
    chosen: DataFrame, told: Sequence[str], cells: str, whose: str, most: int
) -> InputError:
    """Names the columns without which there would be fewest lines."""
    from pyspark.sql import functions as F  # noqa: N812

    columns, parts = chosen.columns, []
    for number, column in enumerate(columns[: len(told)]):
        rest = F.struct(F.lit(0), *(F.col(one) for one in columns if one != column))
        parts.append(F.approx_count_distinct(column).alias(f"values{number}"))
        parts.append(F.approx_count_distinct(rest).alias(f"without{number}"))
    found = chosen.agg(*parts).collect()[0]
    by_cells = sorted(range(len(told)), key=lambda number: int(found[f"without{number}"]))
    blamed = "; ".join(
        f"without {told[number]} (about {found[f'values{number}']:,} values) about "
        f"{found[f'without{number}']:,} would be left"
        for number in by_cells[:NAMED]
    )
    return InputError(
        "spark-cells",
        f"There are {cells} combinations of attributes and sensitive values in {whose}, and at "
        f"most {most:,} are brought here: {blamed}.",
        "Make one of these columns coarser before it comes to shoal, or leave it out; or allow "
        "more with most_cells.",
    )
