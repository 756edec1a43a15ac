"""Standard errors: how far a count from a release may be off by chance.

Which of a group's people have its values is not published; a group says with which chance each has
which. A count over some of its people is off by how these chances fell, and by no more: the values
of the whole group are fixed. With d the variance of what one person counts as, d_A its sum over
those who match and d_g over all n of whom it is not 0, the variance is

    (d_A - d_A**2 / d_g) * n / (n - 1),

summed over groups. For equal chances this is the variance of drawing without replacement
(hypergeometric); for others it is Hajek's approximation for samples of fixed size. Where a value
stands for several (the label of an event, the pooled value) each counts as a part of it, and by
chance is one of those asked for or not, which adds part * (1 - part) for each. Where a person
stands for a people (a survey weight), d_A is the sum of a d, and that of a**2 d takes its place in
front.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.arrays import Floats, Ints, Whole

if TYPE_CHECKING:
    from scipy import sparse

NORMAL = 1.96
"""So many standard errors to either side hold a normal estimate in 95 of 100 cases."""
NOTHING = 1e-12
"""A variance that is not larger is rounding."""


class Estimate(float):
    """How many people are expected to match, and how far that may be off by chance."""

    standard_error: float

    def __new__(cls, value: float, standard_error: float) -> Estimate:
        made = super().__new__(cls, value)
        made.standard_error = standard_error
        return made

    @property
    def interval(self) -> tuple[float, float]:
        """Where the truth is expected to be, in 95 of 100 cases."""
        reach = NORMAL * self.standard_error
        return max(0.0, self - reach), self + reach

    def __repr__(self) -> str:
        low, high = self.interval
        return f"{float(self):,.1f} ± {self.standard_error:,.1f} (95 %: {low:,.1f} to {high:,.1f})"


class Chances(NamedTuple):
    """What a release says of who in a group has which value: lines of people who are alike."""

    unit: Whole
    """What a query can tell them by."""
    group: Ints
    people: Ints
    """How many they are in each copy of the group."""
    case: Floats
    """The chance that one of them has a protected event."""
    copies: Ints
    """Of each group."""
    cases: sparse.csr_array
    others: sparse.csr_array
    """groups x values: the values of each copy that belong to an event, and all others, each as a
    part of these."""

    def expected(self, part: Floats) -> Floats:
        """Of each line: what one of its people is expected to count as, if each value counts as a
        part."""
        case, other = ((held @ part)[self.group] for held in (self.cases, self.others))
        return np.asarray(self.case * case + (1.0 - self.case) * other)

    def asked(self, part: Floats) -> Spread:
        """How far counts of these parts of the values may be off."""
        mean = self.expected(part)
        spread = np.maximum(self.expected(part**2) - mean**2, 0.0)
        moving = spread > NOTHING
        within: Floats = self.people.astype(np.float64) * np.where(moving, spread, 0.0)
        total: Floats = np.bincount(self.group, within, len(self.copies)).astype(np.float64)
        number = np.bincount(self.group, self.people * moving, len(self.copies))
        several = (number > 1) & (total > 0)
        scale = np.where(several, number / np.maximum(number - 1, 1), 0.0)
        lines = np.flatnonzero(within > 0)
        binomial = self.people * self.copies[self.group] * self.expected(part * (1.0 - part))
        return Spread(self, lines, within[lines], np.maximum(total, NOTHING), scale, binomial)


class Spread(NamedTuple):
    """The variances of one way of counting values."""

    chances: Chances
    lines: Ints
    within: Floats
    """The lines with any variance, and that of all their people in one copy."""
    total: Floats
    scale: Floats
    """Of each group: the sum of these, and n / (n - 1)."""
    binomial: Floats
    """Of each line: what its people add where values stand for several."""

    def standard_error(self, matching: Floats, each: Floats | None = None) -> float:
        """Of a count over people who match; `matching` is 1 for units that do and 0 for others, or
        between these where it is not known. People of a unit may stand for so many `each`."""
        each = np.ones_like(matching) if each is None else each
        unit, group = self.chances.unit[self.lines], self.chances.group[self.lines]
        asked, squared = (
            np.bincount(group, self.within * (matching * by)[unit], len(self.total))
            for by in (each, each**2)
        )
        inside = self.chances.copies * self.scale * (squared - asked**2 / self.total)
        among = self.binomial @ (matching * each**2)[self.chances.unit]
        return float(np.sqrt(max(0.0, float(inside.sum() + among))))
