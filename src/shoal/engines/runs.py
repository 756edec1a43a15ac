"""Runs: a published table as counts, which takes no more memory for more people.

Groups with the same content are numbered one after the other, and alike people of a group stand on
lines one after the other. So a table is told by its distinct groups, how many copies there are of
each, and how often each of their lines stands in every copy. Lines are written out only for whoever
writes or asks for them.

Whatever the lines of a table that is read are, gathered runs spell them out again exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl

from shoal.arrays import Bools, Ints, Whole
from shoal.data.sources.write import LINES_AT_ONCE
from shoal.data.table.frames import places_in
from shoal.engines.kernels import gathered, spelled_out
from shoal.groups.ragged import Ragged

GID = "gid"
MOST_SHORT = 2**31 - 1
"""Larger gids need 64 bits."""


@dataclass(frozen=True, eq=False)
class Runs(Ragged):
    """A table whose first column is the gid: the distinct lines of each group."""

    first: Ints
    """The gid of the first copy of each group."""
    copies: Ints
    """How many groups have this content, with gids one after the other."""
    times: Ints
    """How often each line stands in each copy."""
    lines: pl.DataFrame
    """The columns but the gid."""

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Runs:
        """A table of which every line is written out."""
        gid = frame[GID].cast(pl.Int64).to_numpy()
        start = np.flatnonzero(np.append(True, gid[1:] != gid[:-1])[: len(gid)])
        return cls(
            first=gid[start],
            copies=np.ones(len(start), np.int64),
            start=np.append(start, len(gid)),
            times=np.ones(len(gid), np.int64),
            lines=frame.drop(GID),
        )

    @classmethod
    def numbered(cls, group: Whole, copies: Ints, times: Ints, lines: pl.DataFrame) -> Runs:
        """From lines in the order of their groups, 0 to K-1, whose copies are numbered from 1."""
        return cls(
            first=Ragged.of_lengths(copies).start[:-1] + 1,
            copies=copies,
            start=Ragged.of_owners(group, len(copies)).start,
            times=times,
            lines=lines,
        )

    @property
    def columns(self) -> list[str]:
        return [GID, *self.lines.columns]

    @property
    def distinct(self) -> pl.DataFrame:
        """Every line once, with the first of its gids: the same columns, types and values."""
        gid = pl.Series(GID, self.spread(self.first)).cast(self._gid_type)
        return self.lines.clone().insert_column(0, gid)

    @property
    def group(self) -> Ints:
        """The group of each line."""
        return self.owner

    @property
    def weight(self) -> Ints:
        """How often each line stands in the whole table."""
        return self.times * self.spread(self.copies)

    @cached_property
    def sizes(self) -> Ints:
        """How many lines each copy of a group has."""
        return self.sums(np.ones_like(self.times))

    @cached_property
    def _end(self) -> Ints:
        """Where in the table the last copy of each group ends."""
        return np.cumsum(self.sizes * self.copies)

    @property
    def height(self) -> int:
        """How many lines the table has."""
        return int(self._end[-1]) if len(self._end) else 0

    @cached_property
    def _gid_type(self) -> pl.DataType:
        last = int((self.first + self.copies).max(initial=1)) - 1
        return pl.Int64() if last > MOST_SHORT else pl.Int32()

    def slice(self, first: int, count: int) -> pl.DataFrame:
        """So many lines of the table, from one of them on."""
        last = max(first, min(self.height, first + count))
        gid, line = spelled_out(
            self.first, self.start, self.times, self.sizes, self._end, first, last
        )
        numbers = pl.Series(GID, gid).cast(self._gid_type)
        return self.lines[pl.Series(line)].insert_column(0, numbers)

    def slices(self, count: int = LINES_AT_ONCE) -> Iterator[pl.DataFrame]:
        """The table in parts; an empty one is a part too."""
        return (self.slice(first, count) for first in range(0, max(1, self.height), count))

    def frame(self) -> pl.DataFrame:
        """The table with every line written out."""
        return self.slice(0, self.height)

    def sums(self, count: Whole) -> Ints:
        """The sum over the lines of one copy of each group, of so many a line."""
        return self.summed(self.times * count)

    def holding(self, wanted: pl.Expr) -> Bools:
        """The groups of which some line is as wanted."""
        found = self.lines.select(wanted).to_series().fill_null(False).to_numpy()
        return self.any(found)

    def in_order(self) -> Runs:
        """The same groups in the order of their gids."""
        if (self.first[1:] >= (self.first + self.copies)[:-1]).all():
            return self
        return Runs.of(self.frame().sort(GID, maintain_order=True))

    def of_gid(self, gid: int) -> pl.DataFrame:
        """The lines of one group, each once."""
        mine = np.flatnonzero((self.first <= gid) & (gid < self.first + self.copies))
        return self.lines[np.flatnonzero(np.isin(self.group, mine))]

    def totals(self, by: pl.Expr, count: str) -> pl.DataFrame:
        """The sum of a column over the whole table, by what a line shows."""
        often = pl.col(count) * pl.Series(self.weight)
        return self.lines.select(by, often).group_by(pl.exclude(count)).agg(pl.col(count).sum())

    def added_up(self, column: str, count: str) -> Runs:
        """The same groups with one column, and how often each has which of its values."""
        lines = (
            self.lines.select(column, pl.col(count) * pl.Series(self.times))
            .insert_column(0, pl.Series(GID, self.group))
            .group_by(GID, column)
            .agg(pl.col(count).sum())
            .sort(GID, pl.col(column).cast(pl.String))
        )
        start = Ragged.of_owners(lines[GID].to_numpy(), self.owners).start
        times = np.ones(lines.height, np.int64)
        return Runs(start, self.first, self.copies, times, lines.drop(GID))

    @property
    def gids(self) -> Ints:
        """The gid of every group, each copy by itself."""
        copies = Ragged.of_lengths(self.copies)
        return np.asarray(copies.spread(self.first) + copies.nth)

    def split(self, first: Ints) -> Runs:
        """The same table of groups in the order of their gids, with a group's copies apart where
        one of these gids begins."""
        last = np.append(self.first + self.copies, 0)
        cuts = np.union1d(self.first, first)
        source = np.searchsorted(self.first, cuts, side="right") - 1
        inside = (source >= 0) & (cuts < last[source])
        cuts, source = cuts[inside], source[inside]
        end = np.minimum(np.append(cuts[1:], last.max()), last[source])
        start, line = Ragged.of_lengths(self.lengths[source]).start, self.entries(source)[1]
        return Runs(start, cuts, end - cuts, self.times[line], self.lines[line])


def gather(frames: Iterable[pl.DataFrame], schema: pl.Schema) -> Runs:
    """Runs of lines that come in order; a gid that is missing or no number is an error of Polars.
    `schema` tells the columns where there is no line at all."""
    columns = [name for name in schema if name != GID]
    known = _Known(pl.DataFrame(schema={name: schema[name] for name in columns}))
    pieces = [_Piece.of(*part) for part in _whole_groups(_coded(frames, known))]
    if not pieces:
        none = np.zeros(0, np.int64)
        return Runs(np.zeros(1, np.int64), none, none, none, known.lines)
    whole = _Piece.joined(pieces)
    lines = known.lines.select(pl.all().gather(whole.codes)) if columns else known.lines
    return Runs(whole.start, whole.first, whole.copies, whole.times, lines)


class _Known:
    """The distinct lines so far; a line's code is its place among them."""

    def __init__(self, empty: pl.DataFrame) -> None:
        self.lines = empty

    def codes(self, frame: pl.DataFrame) -> Ints:
        columns = self.lines.columns
        fresh = frame.unique(maintain_order=True).join(
            self.lines, on=columns, how="anti", nulls_equal=True, maintain_order="left"
        )
        if fresh.height:
            self.lines = pl.concat([self.lines, fresh])
        return places_in(self.lines, frame).to_numpy().astype(np.int64)


def _coded(frames: Iterable[pl.DataFrame], known: _Known) -> Iterator[tuple[Ints, Ints]]:
    for frame in frames:
        if frame.height:
            gid = frame[GID].cast(pl.Int64)
            if gid.null_count():
                raise pl.exceptions.ComputeError("a line without a gid")
            yield gid.to_numpy(), known.codes(frame.drop(GID))


def _whole_groups(parts: Iterable[tuple[Ints, Ints]]) -> Iterator[tuple[Ints, Ints]]:
    """The same lines, cut where a group ends."""
    gid = code = np.zeros(0, np.int64)
    for more_gid, more_code in parts:
        gid, code = np.append(gid, more_gid), np.append(code, more_code)
        changes = np.flatnonzero(gid[1:] != gid[:-1])
        if len(changes):
            cut = int(changes[-1]) + 1
            yield gid[:cut], code[:cut]
            gid, code = gid[cut:], code[cut:]
    if len(gid):
        yield gid, code


class _Piece:
    """Some groups of a table, gathered."""

    def __init__(self, first: Ints, copies: Ints, start: Ints, times: Ints, codes: Ints) -> None:
        self.first, self.copies, self.start = first, copies, start
        self.times, self.codes = times, codes

    @classmethod
    def of(cls, gid: Ints, code: Ints) -> _Piece:
        return cls(*gathered(np.ascontiguousarray(gid), np.ascontiguousarray(code)))

    @classmethod
    def joined(cls, pieces: list[_Piece]) -> _Piece:
        """All of them; a piece may go on with copies of the last group of the one before."""
        for before, after in pairwise(pieces):
            after._continue(before)
        kept = [piece for piece in pieces if len(piece.first)]
        lengths = np.concatenate([np.diff(piece.start) for piece in kept])
        return cls(
            np.concatenate([piece.first for piece in kept]),
            np.concatenate([piece.copies for piece in kept]),
            Ragged.of_lengths(lengths).start,
            np.concatenate([piece.times for piece in kept]),
            np.concatenate([piece.codes for piece in kept]),
        )

    def _continue(self, before: _Piece) -> None:
        """Moves the copies of the first group to the piece before, if its last group is the same;
        an emptied piece takes over what the next one may go on with."""
        cut = self.start[1]
        last = slice(before.start[-2], before.start[-1])
        if (
            self.first[0] == before.first[-1] + before.copies[-1]
            and np.array_equal(self.codes[:cut], before.codes[last])
            and np.array_equal(self.times[:cut], before.times[last])
        ):
            self.first[0], self.copies[0] = before.first[-1], before.copies[-1] + self.copies[0]
            before.first, before.copies = before.first[:-1], before.copies[:-1]
            before.start = before.start[:-1]
            before.times, before.codes = before.times[: last.start], before.codes[: last.start]
