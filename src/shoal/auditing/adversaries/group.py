"""One A-group as a caller gives it, checked and compressed to distinct rows and values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Ints
from shoal.errors import InputError


@dataclass(frozen=True, eq=False)
class Group:
    """Distinct distributions (restricted to the values present) with sizes, values with counts."""

    weights: Floats
    sizes: Ints
    counts: Ints
    present: Ints
    """The value codes that occur in the group; the columns of `weights`."""
    member: Ints
    """For each tuple, its row in `weights`."""

    @classmethod
    def of(cls, distributions: ArrayLike, values: ArrayLike) -> Group:
        given = np.asarray(distributions, dtype=np.float64)
        codes = np.asarray(values)
        if given.ndim != 2 or codes.shape != (len(given),) or not len(codes):
            raise InputError(
                "group-shape",
                f"The distributions have shape {given.shape} and the values {codes.shape}.",
                "Give an N x V array and the N value codes of the same tuples.",
            )
        if not np.issubdtype(codes.dtype, np.integer) or codes.min() < 0:
            raise InputError(
                "group-values", "The values are no codes.", "Give whole numbers from 0 to V-1."
            )
        if codes.max() >= given.shape[1]:
            raise InputError(
                "group-values",
                f"Value code {codes.max()} has no column among the {given.shape[1]}.",
                "Give codes below V.",
            )
        if not np.isfinite(given).all() or given.min() < 0 or given.sum(axis=1).max() > 1 + 1e-9:
            raise InputError(
                "group-distribution",
                "A row of the distributions is no distribution.",
                "Give probabilities from 0 to 1 that add up to at most 1 in each row.",
            )
        present, counts = np.unique(codes, return_counts=True)
        weights, member, sizes = np.unique(
            given[:, present], axis=0, return_inverse=True, return_counts=True
        )
        return cls(weights, sizes, counts, present, member.ravel())

    def spread(self, by_row: Floats, width: int) -> Floats:
        """S x present results as the N x V matrix that the caller thinks in."""
        full = np.zeros((len(self.member), width))
        full[:, self.present] = by_row[self.member]
        return full


def no_world() -> InputError:
    return InputError(
        "no-world",
        "No possible world has weight: the values cannot be handed out to these tuples.",
        "Check the distributions for zeros that contradict the published values.",
    )
