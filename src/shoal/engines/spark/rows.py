"""The group of every row, dealt on the cluster: for the publisher's own record.

A keyed hash of what identifies people puts alike ones in order; its key comes from the secret seed.
So the same people go to the same groups each time, and the order tells nothing without the key.
Counted lines are known by a hash of their values, which the rows are given too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from shoal.arrays import Ints
from shoal.data.table import Table
from shoal.data.table.frames import free_name
from shoal.engines.runs import GID
from shoal.engines.spark.marks import marks_of
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.groups.grouping import WEIGHT

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KEY = "key"


class SparkRows(NamedTuple):
    """Where the rows of a counted table are."""

    frame: DataFrame
    """All columns, as c0, c1 and so on; those that were counted by, as they were counted."""
    counted: Sequence[str]
    identifiers: dict[str, str]
    """What identifies people: the frame's columns by their own names."""
    keys: Ints
    """Of each counted line, the hash of its values."""
    counts: Ints


def key_of(columns: Sequence[str]) -> Column:
    """A hash of the values of columns, in which missing ones count too."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.xxhash64(*(part for one in columns for part in (F.col(one), F.isnull(one))))


def row_groups(table: Table, grouping: Grouping, *, seed: int) -> DataFrame:
    """What identifies each person, and the gid of their group, -1 where they are suppressed; and
    their weight, if anybody has one."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    rows: SparkRows = table.source
    who = _identified(rows)
    order = Window.partitionBy(KEY).orderBy("chance", "who")
    ranked = rows.frame.select(
        key_of(rows.counted).alias(KEY), who.alias("who"), _chance(who, seed).alias("chance")
    ).select(KEY, "who", (F.row_number().over(order) - 1).cast("long").alias("rank"))
    marks = _sent(rows, table, grouping, seed)
    kind = F.col("who").isNotNull()
    before = (
        Window.partitionBy(KEY)
        .orderBy("rank", kind)
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    dealt = ranked.unionByName(marks, allowMissingColumns=True).withColumn(
        "mark", F.last("mark", ignorenulls=True).over(before)
    )
    mark = F.col("mark")
    people = mark["taken"] + F.col("rank") - mark["start"]
    copy = F.floor(people / mark["each"]).cast("long")
    gid = F.when(mark["gid"] < 0, mark["gid"]).otherwise(mark["gid"] + copy)
    told = {GID: gid}
    if grouping.weight is not None:
        told[free_name(WEIGHT, [*rows.identifiers, GID])] = F.nanvl(mark["weight"], F.lit(None))
    named = dealt.where(kind).select(
        *(f"who.{one}" for one in rows.identifiers.values()), *told.values()
    )
    return named.toDF(*rows.identifiers, *told)


def _identified(rows: SparkRows) -> Column:
    """What identifies people, which has to be different for all of them."""
    from pyspark.sql import functions as F  # noqa: N812

    columns = list(rows.identifiers.values())
    if not columns:
        raise InputError(
            "spark-identifiers",
            "The spec names no identifiers, by which alone rows on Spark can be told apart.",
            "Name a column that is different for everybody, or keep the record by cells.",
        )
    if rows.frame.groupBy(*columns).count().where("count > 1").limit(1).count():
        raise InputError(
            "spark-identifiers",
            f"{', '.join(rows.identifiers)}: two rows have the same identifiers, and nothing else "
            "tells rows on Spark apart.",
            "Name columns that are different for everybody, or keep the record by cells.",
        )
    return F.struct(*columns)


def _chance(who: Column, seed: int) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    key = hashlib.sha256(f"rows on Spark {seed}".encode()).hexdigest()
    text = F.to_json(who, {"ignoreNullFields": "false", "timeZone": "UTC"})
    return F.sha2(F.concat(F.lit(key), text), 256)


def _sent(rows: SparkRows, table: Table, grouping: Grouping, seed: int) -> DataFrame:
    """The marks on the cluster, by the hash of their counted line."""
    from pyspark.sql import functions as F  # noqa: N812

    if len(np.unique(rows.keys)) < len(rows.keys):
        raise InputError(
            "spark-keys",
            "Two combinations of values have the same hash, so that rows cannot be dealt on Spark.",
            "Keep the record by cells.",
        )
    marks = marks_of(table, grouping, rows.counts, seed=seed)
    frame = pl.DataFrame({**marks._asdict(), "line": rows.keys[marks.line]})
    sent = rows.frame.sparkSession.createDataFrame(frame.to_arrow())
    mark = F.struct("start", "gid", "each", "taken", "weight")
    return sent.select(F.col("line").alias(KEY), F.col("start").alias("rank"), mark.alias("mark"))
