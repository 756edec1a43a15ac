"""The thresholds of other models of privacy that a release satisfies, and what they mean.

These models ask how many people or values a group holds, or how far its values are from those of
the whole release. They treat every value as sensitive, and all but (B,t)-privacy know nothing of
what is known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.auditing.models.kernels import largest_change
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.groups.ragged import Counts
from shoal.knowledge import View, with_pool
from shoal.knowledge.models import BANDWIDTH, kernel_estimate

# What groups hold, as other models of privacy see it, and the thresholds that all of them
# satisfy: how many people and values it has (k-anonymity, the l-diversities), and how far its
# values are from those of the whole release (t-closeness, β-likeness, δ-disclosure).


@dataclass(frozen=True, eq=False)
class Contents:
    """The published values of every group. Groups with the same content are one with `copies`."""

    copies: Ints
    values: Counts
    """Published value codes; `len(table.values)` stands for the pooled value."""
    people: Counts
    """The signatures of each group's people."""

    @classmethod
    def of(cls, table: Table, grouping: Grouping) -> Contents:
        group, rows, count = grouping.group, grouping.rows, len(grouping.copies)
        values = Counts.of_lines(group, grouping.published_values(table), rows, count)
        return cls(grouping.copies, values, Counts.of_lines(group, grouping.signature, rows, count))

    @cached_property
    def sizes(self) -> Ints:
        """How many people each group has."""
        return self.values.summed(self.values.count)

    @cached_property
    def shares(self) -> Floats:
        """Of each line: the value's share in its group."""
        return np.asarray(self.values.count / self.values.spread(self.sizes))

    @cached_property
    def whole(self) -> Floats:
        """Each published value's share among all published people."""
        people = np.bincount(self.values.code, self.values.times(self.copies))
        return np.asarray(people / people.sum())


def k_anonymity(contents: Contents) -> int:
    """The people of the smallest group."""
    return int(contents.sizes.min())


def distinct_l(contents: Contents) -> int:
    """The values of the group with fewest."""
    return int(contents.values.lengths.min())


def entropy_l(contents: Contents) -> float:
    """The exponential of the smallest entropy: so many values of equal share would have it."""
    terms = -contents.shares * np.log(contents.shares)
    return float(np.exp(contents.values.summed(terms).min()))


def recursive_c(contents: Contents, l: int) -> float:  # noqa: E741
    """What c has to exceed so that every group's commonest value is less than c times as frequent
    as its l-th commonest and all rarer ones together (at most `distinct_l`)."""
    values = contents.values
    falling = values.count[np.lexsort((-values.count, values.owner))]
    tails = values.summed(np.where(values.nth >= l - 1, falling, 0))
    return float((values.largest(falling) / tails).max())


def alpha(contents: Contents) -> float:
    """The largest share of a value in a group."""
    return float(contents.shares.max())


ROUNDING = 1e-12


def equal_t(contents: Contents) -> float:
    """The largest distance where all values are equally far apart: mass that is too much."""
    above = np.maximum(contents.shares - contents.whole[contents.values.code], 0.0)
    return float(contents.values.summed(above).max())


def ordered_t(contents: Contents) -> float:
    """The largest distance where values stand in the order of their codes, evenly spaced: what has
    to cross each gap between neighbours, over the number of gaps."""
    places = np.flatnonzero(contents.whole)
    if len(places) < 2:
        return 0.0
    below = np.cumsum(contents.whole[places])
    worst, step = 0.0, max(1, 4_000_000 // len(places))
    for first in range(0, len(contents.copies), step):
        last = min(first + step, len(contents.copies))
        group, lines = contents.values.entries(np.arange(first, last))
        shares = np.zeros((last - first, len(places)))
        column = np.searchsorted(places, contents.values.code[lines])
        shares[group, column] = contents.shares[lines]
        crossing = np.abs(np.cumsum(shares, axis=1) - below)[:, :-1].sum(axis=1)
        worst = max(worst, float(crossing.max()) / (len(places) - 1))
    return worst


def basic_beta(contents: Contents) -> float:
    """The largest gain of a value's share, relative to its share in the whole release."""
    return float(_gains(contents).max())


def enhanced_beta(contents: Contents) -> float | None:
    """The β of enhanced β-likeness; None where some value gains more than the -ln of its share,
    which no β allows."""
    gains = _gains(contents)
    allowed = -np.log(contents.whole[contents.values.code])
    return None if (gains > allowed + ROUNDING).any() else float(gains.max())


def delta(contents: Contents) -> float:
    """The largest |ln| of a share in a group over that in the whole release, of values that the
    group holds. (A value that it lacks would make it infinite.)"""
    return float(np.abs(np.log(contents.shares / contents.whole[contents.values.code])).max())


def _gains(contents: Contents) -> Floats:
    whole = contents.whole[contents.values.code]
    return np.asarray(np.maximum(contents.shares / whole - 1.0, 0.0))


Figure = int | float | None


@dataclass(frozen=True)
class Model:
    """One model, with the thresholds that the release satisfies."""

    name: str
    thresholds: dict[str, Figure]
    """By the model's own letters; None where no threshold is satisfied."""
    meaning: str
    """What that says, in words."""


@dataclass(frozen=True)
class Models:
    """All of them, and what has to be said of the release beside them."""

    models: tuple[Model, ...]
    remarks: tuple[str, ...]

    def __getitem__(self, name: str) -> dict[str, Figure]:
        """The thresholds of a model."""
        return next(one.thresholds for one in self.models if one.name == name)


def other_models(table: Table, grouping: Grouping) -> Models:
    """What a grouping of a table satisfies."""
    contents = Contents.of(table, grouping)
    models = [*_numbers(contents), *_distances(table, contents), _beliefs(table, contents)]
    return Models(tuple(models), tuple(_remarks(grouping)))


def _numbers(contents: Contents) -> list[Model]:
    k, l, share = k_anonymity(contents), distinct_l(contents), alpha(contents)  # noqa: E741
    return [
        Model("k-anonymity", {"k": k}, "people in the smallest group"),
        Model("(alpha,k)-anonymity", {"alpha": share, "k": k}, "largest share of a value"),
        Model("distinct l-diversity", {"l": l}, "values in the group with fewest"),
        Model(
            "entropy l-diversity",
            {"l": entropy_l(contents)},
            "so many values of equal share are as uncertain as the least uncertain group",
        ),
        Model(
            "recursive (c,l)-diversity",
            {"c": recursive_c(contents, l), "l": l},
            "a group's commonest value against its l-th and rarer ones; any c above this",
        ),
    ]


def _distances(table: Table, contents: Contents) -> list[Model]:
    models = [
        Model(
            "t-closeness, equal distance",
            {"t": equal_t(contents)},
            "part of a group's values that is not as in the whole release",
        )
    ]
    if _in_order(table, contents):
        models.append(
            Model(
                "t-closeness, ordered distance",
                {"t": ordered_t(contents)},
                "the same, a neighboring number being nearly right",
            )
        )
    return [
        *models,
        Model("basic beta-likeness", {"beta": basic_beta(contents)}, "largest relative gain"),
        Model(
            "enhanced beta-likeness",
            {"beta": enhanced_beta(contents)},
            "the same, if no value gains more than the -ln of its share",
        ),
        Model(
            "delta-disclosure",
            {"delta": delta(contents)},
            "largest |ln| of a share over that in the whole release, of values that a group holds",
        ),
    ]


def _beliefs(table: Table, contents: Contents) -> Model:
    index = np.arange(len(table.signatures), dtype=np.int32)
    known = View(("kernel estimate",), index, kernel_estimate(table))
    changed = largest_change(
        *contents.people.arrays, *contents.values.arrays, with_pool(known, table)
    )
    return Model(
        "(B,t)-privacy",
        {"B": BANDWIDTH, "t": changed},
        "largest change of belief about a person, in bits, of somebody who knows people like them",
    )


def _in_order(table: Table, contents: Contents) -> bool:
    """Whether the published values are numbers, all of them."""
    plain = len(table.values) == len(table.members) and not table.members.values.null_count()
    return table.members.numeric and plain and len(contents.whole) <= len(table.values)


def _remarks(grouping: Grouping) -> list[str]:
    alone = int(grouping.copies[grouping.sizes == 1].sum())
    if not alone:
        return []
    whom = "1 person is" if alone == 1 else f"{alone:,} people are each"
    return [
        f"{whom} published in a group of one, which makes k and l 1 and the other figures large: "
        "these models treat every value as sensitive, while r-robustness lets people be "
        "published with their exact value if it is not protected."
    ]
