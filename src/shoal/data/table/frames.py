"""The boundary to data frames: any eager frame in (pandas, Polars, PyArrow), the same kind out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import narwhals as nw
import polars as pl

from shoal.errors import InputError


def to_polars(frame: Any) -> pl.DataFrame:
    """A Polars copy of any eager data frame."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    try:
        known = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            "frame",
            f"A {type(frame).__name__} is no data frame that shoal knows.",
            "Give a pandas, Polars or PyArrow frame, or read a file with shoal.read_table.",
        ) from None
    except ValueError as error:
        raise _unreadable(error) from None
    try:
        copy: pl.DataFrame = known.to_polars()
    except (TypeError, ValueError) as error:
        raise _unreadable(error) from None
    return copy


def is_spark_frame(data: Any) -> bool:
    """Whether the data is a frame of Spark, whose rows are elsewhere."""
    known = nw.dependencies
    return known.is_pyspark_dataframe(data) or known.is_pyspark_connect_dataframe(data)


def free_name(name: str, taken: Collection[str]) -> str:
    """A name for another column of a table, like this one, that none of its columns has."""
    while name in taken:
        name = f"({name})"
    return name


def places_in(known: pl.DataFrame, lines: pl.DataFrame) -> pl.Series:
    """Where each line stands among others, which are distinct and have the same columns; missing
    where it does not."""
    place = free_name("place", known.columns)
    return lines.join(
        known.with_row_index(place),
        on=known.columns,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )[place]


def like(frame: pl.DataFrame, original: Any) -> Any:
    """`frame` as the kind of data frame that `original` is; Polars where that is not known."""
    if original is None or isinstance(original, pl.DataFrame | pl.LazyFrame):
        return frame
    backend = nw.from_native(original, eager_only=True).implementation
    return nw.from_arrow(frame.to_arrow(), backend=backend).to_native()


def _unreadable(error: Exception) -> InputError:
    reason = " ".join(str(error).split()).rstrip(".")
    return InputError(
        "frame",
        f"The data frame cannot be read: {reason}.",
        "Give every column a name of its own and one type of value.",
    )
