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
from shoal.engines.spark.jobs import SCRATCH, address, private_scratch
from shoal.engines.spark.rows import KEY, key_of
from shoal.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


# Kinds of values, there and here: what the cluster counts is what Polars would have read.
#
# Dates and moments travel as whole numbers, so that neither calendars nor the session's time zone
# have a say. A moment in time is one of UTC here, as in a Parquet file; one without a zone stays
# so.

PLAIN = ("byte", "short", "integer", "long", "float", "double", "boolean", "timestamp_ntz")
WHEN = {"date": pl.Date(), "timestamp": pl.Datetime("us", "UTC")}


def sent(column: Column, kind: DataType, name: str) -> Column:
    """A column as it is counted and stored."""
    from pyspark.sql import functions as F  # noqa: N812

    told = kind.typeName()
    if told == "date":
        return F.unix_date(column)
    if told == "timestamp":
        return F.unix_micros(column)
    if told == "string":
        # Texts that differ are different values, whatever a column's collation says.
        return F.collate(column, "UTF8_BINARY")
    if told == "void":
        return column.cast("string")
    if told in PLAIN or told == "decimal":
        return column
    raise InputError(
        "column-type",
        f'Column "{name}" holds {kind.simpleString()}, which cannot be published as a value.',
        "Turn it into text or numbers first.",
    )


def as_key(column: Column, kind: DataType, name: str) -> Column:
    """A column as text that is equal where its values are: a date is what CSV has for it, and a
    moment its number, as an hour of the clock may come twice."""
    told = column if kind.typeName() == "date" else sent(column, kind, name)
    return told.cast("string")


def received(column: pl.Series, kind: DataType) -> pl.Series:
    """What was stored, as the values that it stands for."""
    meant = WHEN.get(kind.typeName())
    return column if meant is None else column.cast(meant)


def kind_of(column: pl.Series) -> DataType:
    """The kind that a published column has there."""
    from pyspark.sql import types as T  # noqa: N812

    kinds: dict[pl.DataType, DataType] = {
        pl.String(): T.StringType(),
        pl.Int8(): T.ByteType(),
        pl.Int16(): T.ShortType(),
        pl.Int32(): T.IntegerType(),
        pl.Int64(): T.LongType(),
        pl.Float32(): T.FloatType(),
        pl.Float64(): T.DoubleType(),
        pl.Boolean(): T.BooleanType(),
        pl.Date(): T.DateType(),
        pl.Datetime("us"): T.TimestampNTZType(),
        pl.Datetime("us", "UTC"): T.TimestampType(),
    }
    found = kinds.get(column.dtype)
    if found is None:
        raise InputError(
            "spark-type",
            f'Column "{column.name}" holds {column.dtype}, for which Spark has no type.',
            "Save the release in the format csv, or turn the column into text first.",
        )
    return found


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
