"""Pairs by Spark, which joins two frames by a key on the cluster; only distinct pairs come here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from shoal.data.sources.delimited import check_columns
from shoal.engines.counting import ROWS
from shoal.engines.engine import KeyCounts, Pairs, check_keys, check_named
from shoal.engines.spark.brought import brought
from shoal.engines.spark.cells import check_once
from shoal.engines.spark.kinds import as_key, received, sent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
