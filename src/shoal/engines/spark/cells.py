"""The cells of a Spark frame, counted on the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from shoal.data.sources.delimited import check_columns
from shoal.data.spec import Spec
from shoal.data.table.persons import Persons, checked_identifiers, refuse_elsewhere, refuse_repeats
from shoal.engines.counting import ROWS, columns_of
from shoal.engines.engine import KeyCounts, Pairs, check_keys, check_named
from shoal.engines.spark.brought import as_key, brought, received, sent
from shoal.engines.spark.rows import KEY, SparkRows
from shoal.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def spark_cells(
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


# Pairs by Spark, which joins two frames by a key on the cluster; only distinct pairs come here.

WHO, THERE = "who", "there"


def joined_pairs(
    table: DataFrame, released: DataFrame, columns: Sequence[str], key: str, *, most: int
) -> Pairs:
    """Pairs of some columns of a table and those of the same names that a released frame has."""
    from pyspark.sql import functions as F  # noqa: N812

    check_named(key, table=table.columns, release=released.columns)
    check_columns(columns, table.columns)
    told = [name for name in columns if name in released.columns]
    mine = _side(table, "o", columns, key)
    theirs = _side(released, "r", told, key)
    _check_keys(mine, theirs, key)
    joined = mine.join(theirs.withColumn(THERE, F.lit(True)), WHO, "left")
    chosen = joined.withColumn(THERE, F.col(THERE).isNotNull()).drop(WHO)
    words = [*(f'"{name}"' for name in columns), *(f'the released "{name}"' for name in told)]
    found = brought(chosen, words, whose="the table and the release together", most=most)
    return Pairs(
        _finished(found, "o", columns, table),
        _finished(found, "r", told, released),
        found[THERE],
        found[ROWS].cast(pl.Int64),
    )


def _side(frame: DataFrame, front: str, names: Sequence[str], key: str) -> DataFrame:
    """The key as text, and the columns as they are counted: o0, o1 and so on, or r0."""
    from pyspark.sql import functions as F  # noqa: N812

    check_once([*names, key], frame)
    numbered = [f"c{number}" for number in range(len(frame.columns))]
    place = {name: F.col(column) for name, column in zip(frame.columns, numbered, strict=True)}
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    listed = (
        sent(place[name], kinds[name], name).alias(f"{front}{number}")
        for number, name in enumerate(names)
    )
    return frame.toDF(*numbered).select(as_key(place[key], kinds[key], key).alias(WHO), *listed)


def _check_keys(mine: DataFrame, theirs: DataFrame, key: str) -> None:
    """All that is asked of keys, in one pass: a join by keys that repeat could never end."""
    from pyspark.sql import functions as F  # noqa: N812

    sides = ("table", "release")
    one, none = F.lit(1), F.lit(0)
    both = mine.select(WHO, one.alias("table"), none.alias("release")).unionAll(
        theirs.select(WHO, none.alias("table"), one.alias("release"))
    )
    counted = both.groupBy(WHO).agg(*(F.sum(side).alias(side) for side in sides))
    lacking = (F.col("table") == 0) | F.col(WHO).isNull()
    stray = F.when((F.col("release") > 0) & lacking, F.coalesce(WHO, F.lit(str(None))))
    parts = [F.min(stray).alias("stray")]
    for side in sides:
        parts.append(F.sum(side).alias(side))
        parts.append(F.count_if(F.col(side) > 0).alias(f"distinct {side}"))
    found = counted.agg(*parts).collect()[0]
    table, release = (KeyCounts(found[side] or 0, found[f"distinct {side}"]) for side in sides)
    named = [] if found["stray"] is None else [found["stray"]]
    check_keys(key, table=table, release=release, stray=named)


def _finished(
    found: pl.DataFrame, front: str, names: Sequence[str], frame: DataFrame
) -> pl.DataFrame:
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    return pl.DataFrame(
        received(found[f"{front}{number}"].alias(name), kinds[name])
        for number, name in enumerate(names)
    )
