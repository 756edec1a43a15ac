"""Engine: who holds the rows of a table, and the only code that touches them.

Everything between counting and writing works on cells and on groupings as counts. So an engine has
three things to do: count the cells of a source, deal a grouping to the rows (for the publisher's
own record), and write published tables. One that never brings rows here returns tables without
people (`Table.from_cells`), and may refuse to deal.

Pairs are what a table says of people beside what another tool published of them, as counts: an
engine joins the two by a key, wherever the rows are. What keys have to be is the same for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import polars as pl

from shoal.arrays import Floats, IntArray, Ints
from shoal.data.sources.streamed import Rows
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.engines.counting import CountedTable
from shoal.engines.runs import Runs
from shoal.errors import InputError, nearest
from shoal.groups import Grouping
from shoal.groups.grouping import Progress, silent


@dataclass(frozen=True, eq=False)
class Pairs:
    """Distinct pairs of lines, and how many people have each; one line for each in either frame."""

    table: pl.DataFrame
    released: pl.DataFrame
    there: pl.Series
    """Whether they are in the release; if not, its columns are missing."""
    count: pl.Series


class KeyCounts(NamedTuple):
    """The keys of a table."""

    rows: int
    distinct: int
    """A missing one counts as one."""


def check_named(key: str, **sides: Sequence[str]) -> None:
    """An InputError if the columns of one side lack the key."""
    for side, names in sides.items():
        if key not in names:
            raise InputError(
                "key-missing",
                f'The {side} has no key column "{key}"{nearest(key, names)}.',
                "Name a column that both have.",
            )


def check_keys(key: str, *, table: KeyCounts, release: KeyCounts, stray: Sequence[str]) -> None:
    """An InputError for keys by which people cannot be told apart, or that the table lacks: one of
    these is in `stray`."""
    for side, keys in (("table", table), ("release", release)):
        if keys.rows != keys.distinct:
            raise InputError(
                "key-twice", f'The key "{key}" repeats in the {side}.', "Use a unique key."
            )
        if not keys.rows:
            raise InputError(
                "released-empty", f"The {side} has no rows.", "Give one with people in it."
            )
    if stray:
        raise InputError(
            "key-stray",
            f'The release has the key "{stray[0]}", which the table lacks.',
            "Release rows of the table only.",
        )


class Dealt(NamedTuple):
    """A grouping row by row."""

    group: IntArray
    """The number of each row's group, copies counted; -1 where it is suppressed."""
    value: IntArray
    """The value code that each row is published with, before pooling."""
    weight: Floats | None = None
    """The weight of each row, not a number where it has none; None: nobody has."""


class Part(NamedTuple):
    """Some rows of a table, dealt."""

    signature: IntArray
    group: Ints
    """The number of each row's group, copies counted; -1 where it is suppressed."""
    weight: Floats | None
    """As in `Dealt`."""


class Engine(Protocol):
    """Counts, deals and writes."""

    @property
    def name(self) -> str: ...

    def count(self, source: Any, spec: Spec, *, progress: Progress = silent) -> Table:
        """The table behind a source: its cells, counted wherever the rows are."""
        ...

    def counted(self, source: Any, spec: Spec, *, progress: Progress = silent) -> CountedTable:
        """The cells themselves, before columns are recoded."""
        ...

    def deal(self, table: Table, grouping: Grouping, *, seed: int) -> Dealt | None:
        """Draws the rows of every line of a grouping: people of one line are alike in all that is
        published, so any row with that signature and value will do. None where rows are not held
        here."""
        ...

    def parts(self, table: Table, grouping: Grouping, *, seed: int) -> Iterator[Part] | None:
        """Deals to rows that are read again, some after the other in their order; None where
        they stay away."""
        ...

    def write(self, runs: Runs, path: Path) -> None:
        """Writes one published table, whole or not at all."""
        ...


@runtime_checkable
class Local(Engine, Protocol):
    """An engine that brings rows here."""

    def opened(self, source: str | Path) -> pl.DataFrame | Rows:
        """The rows of a source, at once; or, of a large file, some after the other."""
        ...

    def read(self, source: str | Path) -> pl.DataFrame:
        """All rows of a source, at once."""
        ...


@runtime_checkable
class Distant(Engine, Protocol):
    """An engine whose users want tables as frames where the rows are."""

    def frame(self, runs: Runs) -> Any:
        """A published table as such a frame."""
        ...

    def row_groups(self, table: Table, grouping: Grouping, *, seed: int) -> Any:
        """What identifies everybody, and the gid of their group, as such a frame; an InputError
        where nothing tells rows apart."""
        ...

    def write_rows(self, dealt: Any, path: Path, *, rows: int) -> None:
        """Writes it, whole or not at all."""
        ...


@runtime_checkable
class Joining(Engine, Protocol):
    """An engine that puts what another tool released beside the table, where the rows are."""

    def pairs(
        self,
        table: Any,
        released: Any,
        columns: Sequence[str],
        *,
        key: str,
        once: Sequence[str] = (),
        progress: Progress = silent,
    ) -> Pairs:
        """Pairs of the columns of a table and of those that the release has too, joined by the
        column `key`; an InputError for keys that do not tell people apart, or that the table
        lacks, and for a column of `once`, identifiers of the table, that repeats."""
        ...
