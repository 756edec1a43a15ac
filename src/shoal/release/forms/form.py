"""Form: in which shape people's attributes are published, and all that follows from it.

The sensitive table is the same in every form. A form says what stands in the QI table, and reads it
again: as the verifier, who has the original table, and as a recipient, who has not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import polars as pl

from shoal.arrays import Bools, Floats, IntArray, Ints, Whole, Words
from shoal.data.spec import Spec
from shoal.data.table import Column, Table
from shoal.engines import Runs
from shoal.groups import FormName, Grouping

if TYPE_CHECKING:
    from scipy import sparse

    from shoal.release import Release
    from shoal.release.record import Record
    from shoal.release.utility.published import Published
    from shoal.release.utility.sql import Asked, Files


@dataclass(frozen=True, eq=False)
class PublishedPeople:
    """The published people, found again in the table that they come from: how many of a signature
    are in each copy of a group."""

    signature: IntArray
    group: Ints
    people: Ints


@dataclass(frozen=True, eq=False)
class Coded:
    """A QI table as integers: one unit for people whom the form does not tell apart."""

    columns: tuple[Column, ...]
    """The domain of each QI, as far as it is published."""
    units: IntArray
    """units x QIs: what is published of each."""
    covers: tuple[Bools, ...]
    """Per QI, published x domain: what each label covers; empty where values are exact."""
    held: sparse.csr_array
    """units x values: the rows that are expected of people who share a group's values equally."""
    line_unit: IntArray
    """The unit of each line of the QI table."""


class Form(Protocol):
    """One form. To add another: a class with these members, and its place among FORMS."""

    name: FormName
    more_tables: Mapping[str, str]
    """The tables besides those of every release, by the name of the release's field and file, with
    what README.txt says of each."""

    def tables(self, table: Table, grouping: Grouping) -> tuple[Runs, pl.DataFrame | None]:
        """The QI table, one line per person with the gid first; and the ranges, if it has any."""

    def hashed(self, total: Words, grouping: Grouping, signature_rank: IntArray) -> Words:
        """The hash of each group, and in it now also what the form shows of its people."""

    def published(self, total: Words, qi: Runs, spec: Spec) -> tuple[list[Whole], Words]:
        """The hash of each group from published tables alone; before it the keys that lines of the
        QI table are ordered by, the first first."""

    def people(
        self, release: Release, qi: Runs, table: Table, record: Record | None
    ) -> tuple[PublishedPeople | None, str]:
        """Everybody published, by the groups of the QI table; or what contradicts the table. The
        `record` is the publisher's own."""

    def coded(self, release: Release, qi: Runs, held: sparse.csr_array, equal: Bools) -> Coded:
        """The QI table as integers, from its lines, and the values held by each group; `equal` are
        the lines of people who share these equally."""

    def answers(
        self, published: Published, allowed: Sequence[Bools], weights: Floats
    ) -> Callable[[slice], Floats]:
        """What estimates a block of queries: predicates are domain x queries, per QI; weights are
        queries x published values."""

    def matching(self, published: Published, allowed: Sequence[Bools]) -> Floats:
        """Of each unit the part that matches one query: predicates are domain x 1, per QI."""

    def spread(self, published: Published, domains: Sequence[Floats]) -> list[Floats]:
        """Per QI, published x other domain: from how domain values spread over another domain."""

    def example_values(self, release: Release, people: pl.DataFrame, qi: str) -> pl.Series:
        """Values of one QI that some lines of the QI table may stand for, missing ones aside."""

    def matched_sql(self, files: Files, asked: Asked) -> tuple[list[str], str]:
        """SQL: named parts of which the last, `matched`, has a line per gid; and the share of the
        group's people who match, in terms of that line."""
