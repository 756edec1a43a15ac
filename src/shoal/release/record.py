"""The publisher's own record as counts: how many people of each kind are in which group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.arrays import Floats, IntArray, Ints
from shoal.data.sources import read_table
from shoal.data.table import Table, digits, factorize
from shoal.data.table.frames import free_name, places_in
from shoal.data.table.table import Cells, RowCodes
from shoal.engines import GID
from shoal.engines.counting import CountedRows, columns_of
from shoal.errors import InputError
from shoal.groups.grouping import WEIGHT
from shoal.groups.ragged import Ragged
from shoal.groups.suppressed import cell_key, cell_keys, missing_people
from shoal.release.pair import CELL_GROUPS, ROW_GROUPS
from shoal.release.private import COUNT, PUBLISHED, copies_name
from shoal.release.tables import shown_parts
from shoal.release.weights import weight_column


class CellLines(NamedTuple):
    """A record by cells, line by line: so many people of a kind in each copy of a group."""

    first: Ints
    """The gid of the group's first copy."""
    copies: Ints
    signature: IntArray
    value: IntArray
    """Their own value."""
    shown: IntArray
    """What is published of them; -1 where that is no value of the table, as in pooled groups."""
    people: Ints
    weight: Floats | None
    """What each of them counts as, not a number where that is not told; None: nobody's is."""

    @classmethod
    def read(cls, private: Path, table: Table) -> CellLines:
        """From a private folder of the table's run."""
        frame = read_table(private / CELL_GROUPS)
        taken, own = columns_of(table.spec), list(table.spec.sensitive_columns)
        # Everybody's own value; a mask may be made of the same texts.
        whole = None if table.several is None else table.several.combinations
        parts = shown_parts(table)[:whole]
        values = pl.DataFrame(
            {
                name: pl.Series([part[c] for part in parts], dtype=pl.String)
                for c, name in enumerate(own)
            }
        )
        signatures = pl.DataFrame(
            [
                column.values.gather(table.signatures[:, place])
                for place, column in enumerate(table.qi)
            ]
        )
        published = [pl.col(free_name(f"{PUBLISHED} {name}", taken)).alias(name) for name in own]
        try:
            signature = _places(frame.select(table.spec.qi), signatures)
            value = _places(frame.select(own), values)
            shown = _places(frame.select(published), values, unknown=-1)
            first, copies, people = (
                frame[name].to_numpy() for name in (GID, copies_name(table), COUNT)
            )
            weight = weights_in(frame, weight_column(table.spec))
        except pl.exceptions.PolarsError:
            signature = value = shown = None
        if signature is None or value is None or shown is None:
            raise InputError(
                "private-cells",
                f"{private} speaks of people whom the table does not have.",
                "Give the private folder of this table's run.",
            )
        return cls(first, copies, signature, value, shown, people, weight)


@dataclass(frozen=True, eq=False)
class Record:
    """Who is published in which group, by kind of people."""

    gid: Ints
    signature: IntArray
    value: IntArray
    """Their own value, as it is published outside pooled groups."""
    people: Ints
    weight: Floats | None
    """As in `CellLines`."""
    members: Ints | None
    """How many people are published of each sensitive value as it stands in the table; None where
    the record does not tell."""

    @classmethod
    def read(cls, private: Path, table: Table) -> Record:
        """From a private folder; rows are those of the table, in its order."""
        if (private / ROW_GROUPS).is_file():
            return cls.of_rows(*rows_recorded(private, table), table)
        return cls._of_cells(private, table)

    @classmethod
    def of_rows(cls, gid: NDArray[Any], weight: Floats | None, table: Table) -> Record:
        """From the gid of every row, negative where it is not published, and its weight."""
        kept = np.flatnonzero(gid >= 0)
        coded = _rows_of(table)
        ids, place = np.unique(gid[kept], return_inverse=True)
        own = np.full(len(kept), np.nan) if weight is None else weight[kept]
        known, told = np.unique(own, return_inverse=True)
        sizes = [len(ids), len(table.signatures), len(table.values), len(known)]
        value = table.member_value[coded.member[kept]]
        columns = [place, coded.signature[kept], value, told]
        line, keys = factorize([one.astype(np.int32) for one in columns], sizes)
        group, signature, value, told = digits(keys, sizes).T
        return cls(
            ids[group].astype(np.int64),
            signature,
            value,
            np.bincount(line, minlength=len(keys)).astype(np.int64),
            None if weight is None else known[told],
            np.bincount(coded.member[kept], minlength=len(table.members)),
        )

    @classmethod
    def _of_cells(cls, private: Path, table: Table) -> Record:
        first, copies, signature, value, _, people, weight = CellLines.read(private, table)
        each = Ragged.of_lengths(copies)
        line, gid = each.owner, each.spread(first) + each.nth
        told = None if weight is None else weight[line]
        return cls(gid, signature[line], value[line], people[line], told, None)

    def alone(self, codes: IntArray, members: IntArray, count: int) -> Record:
        """The record of one of several columns: `codes` are what each value is there, `members`
        what each sensitive value of the table is, of so many."""
        counted = self.members
        if counted is not None:
            counted = np.bincount(members, counted, count).astype(np.int64)
        return replace(self, value=codes[self.value], members=counted)

    def missing(self, table: Table) -> Cells:
        """The people of a table who are in no group."""
        rows = table.cells.rows
        place = np.searchsorted(cell_keys(table), cell_key(table, self.signature, self.value))
        left = rows - np.bincount(place, self.people, len(rows)).astype(np.int64)
        return missing_people(table, left)


def weights_in(frame: pl.DataFrame, column: str) -> Floats | None:
    """The weights that a record tells, if any."""
    if column not in frame.columns:
        return None
    return frame[column].cast(pl.Float64).fill_null(np.nan).to_numpy()


def rows_recorded(private: Path, table: Table) -> tuple[NDArray[Any], Floats | None]:
    """The gid of every row of the table, and its weight if it is told, from the publisher's private
    folder."""
    frame = read_table(private / ROW_GROUPS)
    groups = frame[GID].to_numpy()
    if len(groups) != table.rows:
        raise InputError(
            "private-rows",
            f"{private} speaks of {len(groups):,} rows, the table has {table.rows:,}.",
            "Give the private folder of this table's run.",
        )
    return groups, weights_in(frame, WEIGHT)


def _rows_of(table: Table) -> RowCodes:
    """The rows of a table in codes: those that are here, or read again."""
    if table.people is None and isinstance(table.source, CountedRows):
        parts = list(table.source.coded(table))
        return RowCodes(*(np.concatenate(codes) for codes in zip(*parts, strict=True)))
    return RowCodes(table.row_signature, table.row_member)


def _places(
    lines: pl.DataFrame, known: pl.DataFrame, unknown: int | None = None
) -> IntArray | None:
    """Where each line stands among some others; None if one does not, unless it is told what then
    stands in its place."""
    found = places_in(known, lines.cast(known.schema))
    if unknown is not None:
        found = found.cast(pl.Int32).fill_null(unknown)
    return None if found.null_count() else found.cast(pl.Int32).to_numpy()
