"""The group of every row, dealt on the cluster: for the publisher's own record.

A keyed hash of what identifies people puts alike ones in order; its key comes from the secret seed.
So the same people go to the same groups each time, and the order tells nothing without the key.
Counted lines are known by a hash of their values, which the rows are given too.

The people of a counted line are alike, and ranked by chance where they are. Of all counted lines
one after the other, by cell, and of the grouping's lines in the same order, equally many people are
published. So both cut the same stretch of places into pieces, and each piece of the two together
has one counted line and one line of the grouping.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from shoal.arrays import Floats, Ints
from shoal.data.table import Table
from shoal.data.table.frames import free_name
from shoal.engines.runs import GID
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.groups.grouping import WEIGHT
from shoal.groups.suppressed import lost_members

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class Marks(NamedTuple):
    """Pieces of counted lines, whose people go to the groups of one line of a grouping."""

    line: Ints
    """The counted line."""
    start: Ints
    """The rank of its first person in the counted line."""
    gid: Ints
    """The gid of the first copy of the group; -1: these are suppressed."""
    each: Ints
    """How many people each copy takes."""
    taken: Ints
    """How many people of other counted lines the copies have taken before."""
    weight: Floats
    """What each of them counts as; not a number where that is not told."""


def marks_of(table: Table, grouping: Grouping, counts: Ints, *, seed: int) -> Marks:
    """The pieces for a table of counted lines; `counts` says how many people each has. In which
    order those of one cell are taken is chance."""
    assert table.counted is not None, "its lines were counted"
    width, member_width = np.int64(len(table.values)), np.int64(len(table.members))
    signature, member, _ = table.member_cells
    cell = np.searchsorted(
        signature * member_width + member,
        table.counted.signature * member_width + table.counted.member,
    )
    value_of = table.member_value[table.counted.member]
    chance = np.random.default_rng(seed).random(len(cell))
    order = np.lexsort([chance, cell, table.counted.signature * width + value_of])
    kept = counts.copy()
    kept[order] = _kept(cell[order], counts[order], lost_members(table, grouping, seed=seed))
    people_end = np.cumsum(kept[order])
    by_cell = np.argsort(grouping.signature * width + grouping.value, kind="stable")
    groups_end = np.cumsum(grouping.people[by_cell])
    starts = np.union1d(people_end - kept[order], groups_end - grouping.people[by_cell])
    starts = starts[starts < grouping.published]
    place = np.searchsorted(people_end, starts, side="right")
    found = np.searchsorted(groups_end, starts, side="right")
    line, of_group = order[place], by_cell[found]
    lost = np.flatnonzero(kept < counts)
    nobody = np.zeros(len(lost), np.int64)
    weight = np.full(len(by_cell), np.nan) if grouping.weight is None else grouping.weight
    return Marks(
        line=np.append(line, lost),
        start=np.append(starts - (people_end[place] - kept[line]), kept[lost]),
        gid=np.append(grouping.first_number[grouping.group[of_group]] + 1, nobody - 1),
        each=np.append(grouping.rows[of_group], nobody + 1),
        taken=np.append(starts - (groups_end[found] - grouping.people[of_group]), nobody),
        weight=np.append(weight[of_group], np.full(len(lost), np.nan)),
    )


def _kept(cell: Ints, counts: Ints, lost: Ints) -> Ints:
    """How many of each counted line are published, the lines being in the order of their member
    cells or at least together: the last ones of a cell are lost."""
    rows = np.bincount(cell, counts, len(lost)).astype(np.int64)
    end = np.cumsum(counts)
    first = np.full(len(lost), end[-1])
    np.minimum.at(first, cell, end - counts)
    before = end - counts - first[cell]
    return np.asarray(np.clip((rows - lost)[cell] - before, 0, counts))


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
