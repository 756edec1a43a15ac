"""How many people, and how many values, a group holds: k-anonymity and the l-diversities.

Each function gives the threshold that the worst group still satisfies.
"""

from __future__ import annotations

import numpy as np

from shoal.auditing.models.contents import Contents


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
