"""Leanings: how much likelier people of a class are to carry an event than others of their group.

Groups say who is in them, not which kind of people tends to carry. Equal shares lend carriers to
people who are in a group to hide others, so that dense classes count too low and sparse ones too
high. So a release tells a factor for each class of one or two attributes with enough carriers;
somebody's weight is the product of theirs, and a group's carriers are shared in its proportion.

Told is what makes counts right and no more than the promise allows: by these shares, too, nobody is
above their limit in any group (or above an equal share, where that is). That binds: classes of
which as many carry as the limit allows still count too low. What the factors are fitted to is the
carriers of each class with noise from the secret seed, so that nobody who knows nearly everything
can try out the rest. docs/decisions/0016-leanings.md has what it brings, and what an insider makes
of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.knowledge import Knowledge, View, event_chances
from shoal.release.kernels import people_above, shared_out
from shoal.table import IntArray, Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SCHEMA = {
    "event": pl.String,
    "attribute": pl.String,
    "value": pl.String,
    "attribute_2": pl.String,
    "value_2": pl.String,
    "factor": pl.Float64,
}
TOLERANCE = 1e-9
"""A share is above a limit if it is so by more than this part of it: factors are written with
twelve digits."""
LARGEST = 5.0
"""Of the logarithm of a factor."""
COUNTED, TOLD = 100, 50
"""Fewest carriers of a class whose count is to be right, and of one that has a factor."""
BETTER, FAR = 0.99, 0.2
"""Leanings are told if by them classes are counted off by less than this part of what they are
without, on average, and each by no more than the latter, or than without."""


def no_leanings() -> pl.DataFrame:
    """The table of a release that tells none."""
    return pl.DataFrame(schema=SCHEMA)


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
    """Carriers who are shared by weight, and those of groups that are shared equally: that hold
    other events too, or nobody else."""

    @property
    def lines(self) -> tuple[Ints, IntArray, NDArray[np.integer], Ints, IntArray]:
        """What the kernels take."""
        return self[:5]

    def above(self, weight: Floats, limit: Floats) -> int:
        """How many people's share is above their limit, and above an equal one. Nobody keeps
        readers from sharing by weight what is to be shared equally."""
        return sum(
            people_above(*self[:4], carriers, weight, limit, TOLERANCE)
            for carriers in (self.carriers, self.elsewhere)
        )

    def errors(
        self, table: Table, views: Sequence[View], event: int, weight: Floats | None = None
    ) -> Floats:
        """How far each class with enough carriers is counted off by these weights, or by equal
        ones, as a part of them."""
        equal = np.ones(len(table.signatures))
        weight = equal if weight is None else weight
        counted = shared_out(*self.lines, weight)
        counted += shared_out(*self[:4], self.elsewhere, equal)
        of_event = table.value_event[table.cells.value] == event
        carriers = np.bincount(
            table.cells.signature[of_event], table.cells.rows[of_event], len(weight)
        )
        errors = [np.empty(0)]
        for view in views:
            true, found = (np.bincount(view.index, one)[1:] for one in (carriers, counted))
            enough = true >= COUNTED
            errors.append(np.abs(found[enough] / true[enough] - 1.0))
        return np.concatenate(errors)
