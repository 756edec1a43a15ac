"""Leanings: which people of a group stand for its carriers, so that classes count right.

Groups say who is in them, not which kind of people tends to carry. Equal shares lend carriers to
people who are in a group to hide others, so that dense classes count too low and sparse ones too
high. So a release tells of everybody in a group with carriers of one event how much of these they
stand for: a column of the QI table.

Told is what makes counts right and no more than the promise allows: nobody's share is above their
limit in any group (or above an equal one, where that is), and nobody's is near to nothing. All that
shares follow from are the groups, which are published, and the carriers of classes that the
adversary knows, with noise from the secret seed, so that nobody who knows nearly everything can try
out the rest. docs/decisions/0016-leanings.md has what it brings, and what an insider makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from shoal.engines import GID, Runs
from shoal.grouping import Grouping
from shoal.knowledge import Knowledge, View, event_chances
from shoal.release.kernels import counted_equally, counted_with, people_above, uneven_groups
from shoal.spec import Spec
from shoal.table import IntArray, Table
from shoal.table.bands import bands_of
from shoal.table.frames import free_name

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SHARE = "share"
TOLERANCE = 1e-9
"""A share is above a limit if it is so by more than this part of it."""
DIGITS, ROUNDING = 6, 1e-5
"""Shares are written with so many digits, so that a group's are its carriers to such a part."""
LEAST = 0.1
"""The least share, as a part of an equal one: nobody is told to carry nothing."""
COUNTED = 100
"""Fewest carriers of a class whose count is to be right."""
BANDS = (2, 4, 8, 16)
"""Into how many bands, of about as many people each, the numbers of a QI are put."""
MOST_DIVISIONS = 24
"""Ways of dividing people into classes: each makes more noise necessary for all."""
BETTER, FAR = 0.99, 0.25
"""Leanings are told if by them classes are counted off by less than this part of what they are
without, on average, and each by no more than the latter, or than without."""


def share_column(spec: Spec) -> str:
    """What the column of shares is called: as no column of the table is."""
    return free_name(SHARE, [GID, *spec.qi, *spec.sensitive_columns])


@dataclass(frozen=True, eq=False)
class Leanings:
    """What a release tells of how people lean."""

    column: str
    """Of the QI table."""
    share: Floats
    """Everybody's on each line of a grouping; not a number where none is told."""
    told: Mapping[str, int]
    """How many people's are told, by the event that their group holds."""

    @classmethod
    def of(cls, table: Table, share: Floats, told: Mapping[str, int]) -> Leanings:
        return cls(share_column(table.spec), share, told)

    def beside(self, qi: Runs, grouping: Grouping) -> Runs:
        """The QI table of the grouping, with the column."""
        group, signature = grouping.group, grouping.signature
        first = np.append(True, (group[1:] != group[:-1]) | (signature[1:] != signature[:-1]))
        shown = pl.Series(self.column, self.share[first], nan_to_null=True)
        return replace(qi, lines=qi.lines.with_columns(shown))


def fault(told: Floats, equal: Floats) -> str:
    """What is wrong with counts of classes that are so far off by leanings, and so far equally; or
    nothing."""
    if not told.sum() < BETTER * equal.sum():
        return "by them counts are no better than without"
    if not (told <= np.maximum(equal, FAR)).all():
        return "by them a class is counted far worse than without"
    return ""


def limits(table: Table, knowledge: Knowledge, event: int) -> Floats:
    """Of each signature: the most that a share of the event may be. What a model says of people
    does not count: whoever verifies may not have it."""
    most = np.full(len(table.signatures), 1.0 / table.event_r[event])
    if table.spec.limit == "prior":
        for view in knowledge.class_views:
            chance = event_chances(view, table)[:, event]
            np.maximum(most, chance[view.index], out=most)
    return most


def classes_told_of(table: Table, views: Sequence[View]) -> list[IntArray]:
    """Of each signature its class, for all divisions of people into classes whose counts shares are
    to make right: by single attributes, by bands of the numbers or dates of a QI, since few single
    ones have enough carriers, and by the views of several attributes, the fewest first. Class 0 is
    of people who are in none."""
    by_number = sorted(views, key=lambda view: len(view.attributes))
    known = [view.index.astype(np.int32) for view in by_number]
    single = sum(len(view.attributes) <= 1 for view in views)
    return [*known[:single], *_bands(table), *known[single:]][:MOST_DIVISIONS]


def belonging(
    divisions: Sequence[IntArray], counted: Sequence[Floats], *, least: float, most: int
) -> sparse.csr_array:
    """classes x signatures: who belongs to each class that counts at least so many, the largest
    first, and at most so many of them. `counted` is by the classes of each division."""
    found = [
        (-counts[one], index, one)
        for index, counts in zip(divisions, counted, strict=True)
        for one in np.flatnonzero(counts >= least).tolist()
        if one > 0
    ]
    chosen = sorted(found, key=lambda one: one[0])[:most]
    members = [np.flatnonzero(index == one) for _, index, one in chosen]
    place = np.repeat(np.arange(len(members)), [len(one) for one in members])
    column = np.concatenate([*members, np.empty(0, np.int64)]).astype(np.int64)
    shape = (len(members), len(divisions[0]) if divisions else 0)
    return sparse.csr_array((np.ones(len(column)), (place, column)), shape=shape)


def _bands(table: Table) -> Iterator[IntArray]:
    for place, column in enumerate(table.qi):
        for bands in (some for some in BANDS if column.ordered and some < len(column)):
            yield bands_of(table, place, bands)[table.signatures[:, place]]


class Groups(NamedTuple):
    """Who is in groups, and their carriers of an event."""

    start: Ints
    who: IntArray
    number: NDArray[np.integer]
    """Lines from `start[g]` to `start[g + 1]` are so many people of a signature."""
    times: Ints
    """How often each group is there."""
    carriers: IntArray
    elsewhere: IntArray
    """Carriers of groups whose shares are told, and those of groups that are shared equally: that
    hold other events too, or nobody else."""

    @property
    def lines(self) -> tuple[Ints, IntArray, NDArray[np.integer], Ints, IntArray]:
        """What the kernels take."""
        return self[:5]

    def above(self, share: Floats, limit: Floats) -> int:
        """How many people's share is above their limit, and above an equal one."""
        return people_above(*self.lines, share, limit, TOLERANCE)

    def uneven(self, share: Floats) -> bool:
        """Whether the shares of some group are not its carriers, or somebody's is too small."""
        return uneven_groups(self.start, self.number, self.carriers, share, LEAST, ROUNDING) > 0

    def errors(
        self, table: Table, views: Sequence[View], event: int, share: Floats | None = None
    ) -> Floats:
        """How far each class with enough carriers is counted off by these shares, or by equal
        ones, as a part of them."""
        everybody = len(table.signatures)
        counted = counted_equally(*self[:4], self.elsewhere, everybody)
        if share is None:
            counted += counted_equally(*self.lines, everybody)
        else:
            counted += counted_with(*self.lines, share, everybody)
        of_event = table.value_event[table.cells.value] == event
        carriers = np.bincount(
            table.cells.signature[of_event], table.cells.rows[of_event], everybody
        )
        errors = [np.empty(0)]
        for view in views:
            true, found = (np.bincount(view.index, one)[1:] for one in (carriers, counted))
            enough = true >= COUNTED
            errors.append(np.abs(found[enough] / true[enough] - 1.0))
        return np.concatenate(errors)
