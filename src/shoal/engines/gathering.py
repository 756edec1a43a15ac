"""Gathering: a published table as counts, from lines that are read some at a time.

Whatever the lines are, the runs spell them out again exactly. A release as shoal writes it has
groups with the same content one after the other, so that its runs take no more memory for more
people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import polars as pl

from shoal.arrays import Ints
from shoal.data.table.frames import places_in
from shoal.engines.kernels import gathered
from shoal.engines.runs import GID, Runs
from shoal.groups.ragged import Ragged


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
