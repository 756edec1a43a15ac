"""Published tables written by Spark: a folder of parts, each with the lines of whole groups.

Parts in the order of their names are the table, line by line as shoal itself would write it: every
part has its own folder while Spark writes, and lines are sorted within it. Spark's files are
renamed when its job has ended well, and the folder takes its place after that: a job that fails,
or loses executors for good, leaves nothing behind.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.arrays import Ints
from shoal.data.sources.bare import bare
from shoal.data.sources.guard import guarded
from shoal.data.storage.replace import replace_folder
from shoal.engines.runs import GID, Runs
from shoal.engines.spark.brought import kind_of
from shoal.engines.spark.jobs import address, watched
from shoal.errors import InputError
from shoal.groups import Progress
from shoal.groups.ragged import Ragged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# Published tables as Spark frames: lines and counts go to the cluster, which writes them out.
#
# The driver sends every distinct line of a table once, with the gids that it stands under and how
# often it stands under each. Two explosions make the table of it.

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
    """Lines that stand too often in a group as several, one after the other."""
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


END = "\0\n"
"""Ends a line where texts may hold line breaks: no published CSV holds a NUL."""
SETTINGS = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.files.maxRecordsPerFile": "0",
}


def write_parts(session: SparkSession, runs: Runs, path: Path, progress: Progress) -> None:
    """Writes one published table to the folder `path`, whole or not at all; its name's ending says
    in which form. The folder has to be one that executors see too."""
    kind = path.suffix[1:]
    with replace_folder(path) as new, _writing(session, path, progress):
        (_write_csv if kind == "csv" else _write_parquet)(session, runs, new / "spark")
        for number in range(len(part_starts(runs))):
            _the_part(new / "spark", number).rename(new / f"part-{number:05}.{kind}")
        shutil.rmtree(new / "spark")


def write_frame(frame: DataFrame, path: Path, *, rows: int, progress: Progress) -> None:
    """Writes a frame of so many rows to the folder `path` in the same way, in parts as they are."""
    with replace_folder(path) as new, _writing(frame.sparkSession, path, progress):
        frame.write.parquet(address(new / "spark"), compression="zstd")
        for number, file in enumerate(sorted((new / "spark").glob("part-*.parquet"))):
            file.rename(new / f"part-{number:05}.parquet")
        shutil.rmtree(new / "spark")
        written = sorted(new.iterdir())
        if not written or pl.scan_parquet(written).select(pl.len()).collect().item() != rows:
            raise _unseen()


@contextmanager
def _writing(session: SparkSession, path: Path, progress: Progress) -> Iterator[None]:
    told = f"writing {path.name} on Spark"
    with _set(session, SETTINGS), watched(session, told, progress):
        yield


def _write_parquet(session: SparkSession, runs: Runs, folder: Path) -> None:
    lines = runs.lines.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
    part = PART
    while part in runs.columns:
        part += "_"
    placed = _in_order(spread_out(session, runs, lines)).drop(LINE)
    named = placed.toDF(part, GID, *runs.lines.columns)
    named.write.partitionBy(part).parquet(address(folder), compression="zstd")


def _write_csv(session: SparkSession, runs: Runs, folder: Path) -> None:
    """Lines are sent as the texts that they are; of their gids, only the numbers are added."""
    from pyspark.sql import functions as F  # noqa: N812

    header, texts = _csv_texts(runs)
    placed = _in_order(spread_out(session, runs, texts, header=header))
    number = F.when(F.col(LINE) == HEADER, "").otherwise(F.col(GID).cast("string"))
    lines = placed.select(PART, F.concat(number, "c0").alias("value"))
    lines.write.partitionBy(PART).text(address(folder), compression="none", lineSep="\n")


def _csv_texts(runs: Runs) -> tuple[str, pl.DataFrame]:
    """The header, and all that follows the gid on each distinct line, as they stand in a CSV."""
    header = guarded(bare(runs.slice(0, 0))).write_csv().removesuffix("\n")
    lines = guarded(bare(runs.lines)).insert_column(0, pl.lit(0).alias(GID))
    texts = lines.write_csv(include_header=False, line_terminator=END).split(END)[:-1]
    return header, pl.DataFrame({"text": pl.Series(texts, dtype=pl.String).str.slice(1)})


def _in_order(placed: DataFrame) -> DataFrame:
    """Lines with the same gid and number are equal, so that this is one order only."""
    return placed.sortWithinPartitions(PART, GID, LINE)


def _the_part(folder: Path, number: int) -> Path:
    found = [
        file
        for below in folder.glob(f"part*={number}")
        for file in below.iterdir()
        if not file.name.startswith((".", "_"))
    ]
    if len(found) != 1:
        raise _unseen()
    return found[0]


def _unseen() -> InputError:
    return InputError(
        "spark-parts",
        "Spark wrote a table, or a part of it, to a place that this machine does not see.",
        "Save to a folder that this machine and all executors see under the same name.",
    )


@contextmanager
def _set(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of a session for a while."""
    before = {key: session.conf.get(key, None) for key in settings}
    try:
        for key, value in settings.items():
            session.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, old)
