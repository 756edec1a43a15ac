"""Kinds of values, there and here: what the cluster counts is what Polars would have read.

Dates and moments travel as whole numbers, so that neither calendars nor the session's time zone
have a say. A moment in time is one of UTC here, as in a Parquet file; one without a zone stays so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

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
