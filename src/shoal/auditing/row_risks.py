"""Everybody's worst case. It is kept by (group, signature) pair, since people of one pair are alike
to the adversary; lines for rows are made only when somebody asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from shoal.arrays import Bools, Floats, IntArray, Ints, Whole
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups.partition import Partition


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Who the people of a partition are, as far as the caller knows."""

    table: Table
    partition: Partition
    rows: IntArray | None
    """The number of the group of each row of the table, -1 where it is suppressed; None where the
    groups were never dealt to rows."""
    labels: tuple[str, ...] | None
    """The caller's names of the groups; None: they are counted from 1, as in a release."""

    def name(self, number: int) -> str:
        """What the caller calls the group of that number."""
        return str(number + 1) if self.labels is None else self.labels[number]

    @property
    def dealt(self) -> IntArray:
        """The number of each row's group, or an InputError if nobody knows it."""
        if self.rows is None:
            raise InputError(
                "rows-unknown",
                "The groups were judged as counts, so nobody can be named by their row.",
                "Give the audit the group of each row.",
            )
        return self.rows

    @cached_property
    def pair(self) -> IntArray:
        """The pair of each row, -1 where it is alone or suppressed."""
        return self.partition.find_pairs(self.dealt, self.table.row_signature)

    def first_of(self, pairs: Whole) -> tuple[int | None, int]:
        """The first row of some pairs and its pair; without rows, the first of the pairs."""
        if self.rows is None:
            return None, int(pairs.min())
        pair = int(pairs[np.argmin(self._first_row[pairs])])
        return int(self._first_row[pair]), pair

    @cached_property
    def _first_row(self) -> IntArray:
        """The first row of each pair; one more entry for rows without a pair."""
        first = np.empty(len(self.partition.signature) + 1, np.int32)
        first[self.pair[::-1]] = np.arange(self.table.rows, dtype=np.int32)[::-1]
        return first

    def names(self, numbers: Whole) -> pl.Series:
        number = pl.Series(numbers)
        known = number.set(number < 0, None)
        if self.labels is None:
            return (known + 1).cast(pl.String)
        return pl.Series(list(self.labels), dtype=pl.String).gather(known)


@dataclass(frozen=True, eq=False)
class RowRisks:
    """The worst case of everybody: by pair, and by row where rows were dealt."""

    table: Table
    people: KnownRows
    held: IntArray
    """The pairs in groups that hold an event, in order."""
    worst: pl.DataFrame
    """The worst case of each held pair: event, view, adversary, before, posterior, exposure, kind,
    problematic, undecided."""
    known: pl.DataFrame
    """Of each signature, before anything is published: known_before, known_exposure."""

    @property
    def partition(self) -> Partition:
        return self.people.partition

    @property
    def published(self) -> Bools:
        """Which rows are published."""
        return self.people.dealt >= 0

    @property
    def exposure(self) -> Floats:
        """Of each held pair: the largest posterior times its event's r."""
        return self.worst["exposure"].to_numpy()

    @property
    def sizes(self) -> Ints:
        """How many rows each held pair has."""
        return self.partition.pair_people[self.held]

    def label_of_pair(self, pair: int) -> str:
        """What the caller calls the group of a pair."""
        group = int(self.partition.pairs.owner_of(pair))
        return self.people.name(int(self.partition.group_number[group]))

    def of_rows(self, rows: Ints) -> pl.DataFrame:
        """One line for each of some rows; unpublished rows have nothing but their number."""
        group, signature = self.people.dealt[rows], self.table.row_signature[rows]
        return self._lines(rows, group, signature, self.people.pair[rows])

    def of_people(self, rows: Ints, group: Whole, signature: IntArray) -> pl.DataFrame:
        """One line for each, from the number of their group, or -1, and their signature."""
        pair = self.partition.find_pairs(group, signature)
        return self._lines(rows, group, signature, pair)

    def _lines(self, rows: Ints, group: Whole, signature: IntArray, pair: IntArray) -> pl.DataFrame:
        gone, line = group < 0, pl.Series(self._line[pair])
        worst = self.worst.select(pl.all().gather(line.set(line < 0, None)))
        known = self.known.select(pl.all().gather(pl.Series(signature)))
        lines = pl.concat([worst, known], how="horizontal").with_columns(
            pl.col("before", "posterior", "exposure").fill_null(0.0),
            pl.col("problematic", "undecided").fill_null(False),
        )
        numbers = ("before", "posterior", "exposure", "known_before", "known_exposure")
        return lines.with_columns(
            pl.Series("row", rows.astype(np.int64)),
            self.people.names(group).alias("group"),
            pl.when(pl.Series(~gone)).then(pl.col(*numbers)),
        ).select(
            "row",
            "group",
            "event",
            "view",
            "adversary",
            "before",
            "posterior",
            "exposure",
            "kind",
            "problematic",
            "undecided",
            "known_before",
            "known_exposure",
        )

    def exposed_people(self, count: int) -> tuple[pl.DataFrame, IntArray]:
        """The lines of the most exposed people, the most exposed first, with their rows, if known;
        and their signatures."""
        exposure = np.where(self.worst["posterior"].to_numpy() > 0, self.exposure, 0.0)
        order = np.argsort(-exposure, kind="stable")
        if self.people.rows is not None:
            lines = self._exposed_rows(exposure, order, count)
            return lines, self.table.row_signature[lines["row"].to_numpy()]
        pairs = self.held[np.repeat(order, np.minimum(self.sizes[order], count))[:count]]
        group = self.partition.group_number[self.partition.pairs.owner_of(pairs)]
        signature = self.partition.signature[pairs]
        lines = self.of_people(np.zeros(len(pairs), np.int64), group, signature)
        return lines.with_columns(pl.lit(None, pl.Int64).alias("row")), signature

    def _exposed_rows(self, exposure: Floats, order: Ints, count: int) -> pl.DataFrame:
        enough = int(np.searchsorted(np.cumsum(self.sizes[order]), count))
        if not len(order) or not count:
            return self.of_rows(np.zeros(0, np.int64))
        least = exposure[order[min(enough, len(order) - 1)]]
        chosen = np.append((exposure >= least) & (exposure > 0), False)  # the last: no held pair
        lines = self.of_rows(np.flatnonzero(chosen[self._line[self.people.pair]]))
        return lines.sort("exposure", "row", descending=[True, False]).head(count)

    def worst_pairs(self) -> IntArray:
        """The pairs with the largest exposure, and posterior among these."""
        linked = self.worst["event"].is_not_null().to_numpy()
        if not linked.any():
            return np.zeros(0, np.int32)
        exposure, posterior = self.exposure, self.worst["posterior"].to_numpy()
        linked = linked & (exposure == exposure[linked].max())
        linked &= posterior == posterior[linked].max()
        return np.asarray(self.held[linked])

    @cached_property
    def _line(self) -> IntArray:
        """The place of each pair among the held ones, -1 elsewhere; one more entry for no pair."""
        line = np.full(len(self.partition.signature) + 1, -1, np.int32)
        line[self.held] = np.arange(len(self.held))
        return line
