"""Published tables as Spark frames: lines and counts go to the cluster, which writes them out.

The driver sends every distinct line of a table once, with the gids that it stands under and how
often it stands under each. Two explosions make the table of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.arrays import Ints
from shoal.engines.runs import GID, Runs
from shoal.engines.spark.kinds import kind_of
from shoal.groups.ragged import Ragged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AT_ONCE = 1 << 20
"""So many lines of a table make a part, and no line is written out more often at a time: what an
executor holds does not grow with the table."""

PART, FIRST, COPIES, TIMES, LINE = "part", "first", "copies", "times", "line"
HEADER = -1
"""The number of the line above all others of a part."""


def as_frame(session: SparkSession, runs: Runs) -> DataFrame:
    """A published table as a frame of the session, in no order."""
    lines = runs.lines.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
    columns = list(runs.lines.columns)
    spread = spread_out(session, runs, lines)
    return spread.drop(PART, LINE).toDF(GID, *columns)


def spread_out(
    session: SparkSession, runs: Runs, lines: pl.DataFrame, *, header: str | None = None
) -> DataFrame:
    """The part, gid and line of every line of a table, and what stands on it: `lines` has a row for
    each of the distinct ones, whose columns become c0, c1 and so on. A `header` is a line of each
    part too, in its first column."""
    from pyspark.sql import functions as F  # noqa: N812

    starts = part_starts(runs)
    columns = [f"c{number}" for number in range(len(lines.columns))]
    placed = _placed(replace(runs, lines=pl.DataFrame(list(lines), schema=columns)), starts, header)
    sent = _to_session(session, placed).repartition(len(starts), PART)
    gid = F.explode(F.sequence(F.col(FIRST), F.col(FIRST) + F.col(COPIES) - 1))
    often = F.explode(F.sequence(F.lit(1).cast("long"), F.col(TIMES)))
    shown = "int" if runs.slice(0, 0)[GID].dtype == pl.Int32 else "long"
    return (
        sent.select(PART, gid.alias(GID), LINE, TIMES, *columns)
        .select(PART, GID, LINE, often.alias(TIMES), *columns)
        .select(PART, F.col(GID).cast(shown).alias(GID), LINE, *columns)
    )


def _placed(runs: Runs, starts: Ints, header: str | None) -> pl.DataFrame:
    """The distinct lines, apart where a part begins: what is sent."""
    cut = runs.split(starts)
    part = np.searchsorted(starts, cut.first, side="right") - 1
    placed = cut.lines.select(
        pl.Series(PART, part[cut.group]).cast(pl.Int32),
        pl.Series(FIRST, cut.first[cut.group]),
        pl.Series(COPIES, cut.copies[cut.group]),
        pl.Series(TIMES, cut.times),
        pl.Series(LINE, np.arange(cut.lines.height)),
        pl.all(),
    )
    if header is not None:
        heads = {PART: range(len(starts)), FIRST: starts, COPIES: 1, TIMES: 1, LINE: HEADER}
        top = pl.DataFrame({**heads, "c0": header}).select(placed.columns)
        placed = pl.concat([top.cast(placed.schema), placed])
    return _in_pieces(placed)


def part_starts(runs: Runs) -> Ints:
    """The first gid of each part of a table: parts have about AT_ONCE lines, and whole groups."""
    lines = runs.sizes * runs.copies
    end = np.cumsum(lines)
    wanted = np.arange(0, end[-1], AT_ONCE)
    group = np.searchsorted(end, wanted, side="right")
    inside = wanted - (end - lines)[group]
    return np.unique(runs.first[group] + inside // runs.sizes[group])


def _in_pieces(placed: pl.DataFrame) -> pl.DataFrame:
    """The same with lines that stand too often in a group as several, one after the other."""
    if (placed[TIMES] <= AT_ONCE).all():
        return placed
    times = placed[TIMES].to_numpy()
    pieces = -(-times // AT_ONCE)
    apart = Ragged.of_lengths(pieces)
    most = np.minimum(AT_ONCE, apart.spread(times) - apart.nth * AT_ONCE)
    return placed[apart.owner].with_columns(pl.Series(TIMES, most))


def _to_session(session: SparkSession, lines: pl.DataFrame) -> DataFrame:
    from pyspark.sql.types import StructField, StructType

    kinds = StructType([StructField(column.name, kind_of(column)) for column in lines])
    sent = lines.to_arrow(compat_level=pl.CompatLevel.oldest())
    return session.createDataFrame(sent, kinds)
