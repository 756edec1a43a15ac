"""The cells of a Spark frame, counted on the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from shoal.data.sources.delimited import check_columns
from shoal.data.spec import Spec
from shoal.data.table.identifiers import checked_identifiers, refuse_repeats
from shoal.data.table.persons import Persons, refuse_elsewhere
from shoal.engines.counting import ROWS, columns_of
from shoal.engines.spark.brought import brought
from shoal.engines.spark.kinds import received, sent
from shoal.engines.spark.rows import KEY, SparkRows
from shoal.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def count_cells(
    frame: DataFrame, spec: Spec, *, most: int
) -> tuple[pl.DataFrame, SparkRows, Persons | None]:
    """The cells of a frame, and how many rows each has, with where these are, and the people that
    they are. Of all columns only QIs and sensitive ones are read."""
    names = columns_of(spec)
    check_columns([*names, *spec.identifiers, *spec.named_person], frame.columns)
    check_once(names, frame)
    numbers = {name: f"c{number}" for number, name in enumerate(frame.columns)}
    prepared = _prepared(frame, names)
    check_repeats(frame, checked_identifiers(spec))
    persons = None
    if spec.person is not None:
        ((named, distinct),) = _counts(frame, [spec.person])
        refuse_elsewhere(spec, named, distinct)
        persons = Persons(named, distinct)
    columns = [numbers[name] for name in names]
    told = [f'"{name}"' for name in names]
    cells = brought(prepared.select(*columns), told, whose="the table", most=most)
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    found = pl.DataFrame(received(cells[numbers[name]].alias(name), kinds[name]) for name in names)
    who = {name: numbers[name] for name in (*spec.identifiers, *spec.named_person)}
    keys, counts = cells[KEY].to_numpy(), cells[ROWS].to_numpy()
    return found, SparkRows(prepared, columns, who, keys, counts), persons


def check_repeats(frame: DataFrame, identifiers: Sequence[str]) -> None:
    """An InputError for an identifier that repeats."""
    check_columns(identifiers, frame.columns)
    check_once(identifiers, frame)
    for name, counts in zip(identifiers, _counts(frame, identifiers), strict=True):
        refuse_repeats(name, *counts)


def _counts(frame: DataFrame, names: Sequence[str]) -> list[tuple[int, int]]:
    """How many rows have a value of each column, and how many of these are distinct."""
    from pyspark.sql import functions as F  # noqa: N812

    if not names:
        return []
    numbered = frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))
    kinds = dict(numbered.dtypes)
    asked = []
    for column in (f"c{frame.columns.index(name)}" for name in names):
        held = F.col(column)
        if kinds[column] == "string":
            held = F.nullif(held, F.lit(""))
        elif kinds[column] in ("float", "double"):
            held = F.nanvl(held, F.lit(None))
        asked += [F.count(held), F.count_distinct(held)]
    (counts,) = numbered.agg(*asked).collect()
    return list(zip(counts[::2], counts[1::2], strict=True))


def check_once(names: Sequence[str], frame: DataFrame) -> None:
    """An InputError if two columns have one of these names."""
    for name in names:
        if frame.columns.count(name) > 1:
            raise InputError(
                "column-twice",
                f'The frame has two columns called "{name}".',
                "Give every column a name of its own.",
            )


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
