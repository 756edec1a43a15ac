"""Whether shares are what they are said to be: a group's carriers by weight, cut at both ends.

A share that is not cut is v w: of the group, and of the person's signature. So a line of which the
group and the signature are tied together by others tells nothing new, and has to agree with them;
a share that is cut says on which side of its bound v w is. What cannot be got by any weights at all
was not made by shoal, and may mark people.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lstsq

from shoal.compiling import kernel
from shoal.release.leanings import COUNTED, LEAST, ROUNDING, Groups, belonging
from shoal.table import IntArray

Floats = NDArray[np.float64]
AGREE = 1e-3
"""How far logarithms may be apart: shares have six digits, and ties add up."""
ROOM = 10
"""Classes may have so many carriers fewer than those that shares are made for: they are chosen with
noise."""
MOST = 1_500
"""Classes that weights are held against, those with most carriers: more than they are made of."""


class Weights(NamedTuple):
    """Logarithms of the weights of signatures, as shares tell them."""

    log: Floats
    """Within a part, up to a constant."""
    part: NDArray[np.int64]
    """Signatures that shares tie together."""
    wrong: int
    """How many lines fit no weights."""

    @classmethod
    def of(cls, groups: Groups, share: Floats, limit: Floats) -> Weights:
        start, who, number, _, carriers = groups.lines
        return cls(*tied(start, who, number, carriers, share, limit, LEAST, ROUNDING, AGREE))

    def strange(self, divisions: list[IntArray], carriers: NDArray[np.number]) -> bool:
        """Whether weights are no products of factors of classes with enough carriers; those of the
        largest part are held against them."""
        names, sizes = np.unique(self.part, return_counts=True)
        mine = self.part == names[np.argmax(sizes)]
        counted = [np.bincount(index, carriers).astype(np.float64) for index in divisions]
        inside = [index[mine] for index in divisions]
        classes = belonging(inside, counted, least=COUNTED - ROOM, most=MOST)
        known = sparse.vstack([np.ones((1, int(mine.sum()))), classes], format="csr")
        factors = lstsq((known @ known.T).toarray(), known @ self.log[mine])[0]
        return bool((np.abs(known.T @ factors - self.log[mine]) > 10 * AGREE).any())


@kernel
def tied(
    start: NDArray[np.int64],
    who: NDArray[np.integer],
    number: NDArray[np.integer],
    carriers: NDArray[np.integer],
    share: Floats,
    limit: Floats,
    least: float,
    rounding: float,
    agree: float,
) -> tuple[Floats, NDArray[np.int64], int]:
    """The logarithm of each signature's weight, the part that it is tied to, and how many lines do
    not fit. Groups and signatures are united by their differences: log share = log v + log w."""
    groups, signatures = len(carriers), len(limit)
    above = np.arange(groups + signatures)
    apart = np.zeros(groups + signatures)
    wrong = 0
    for cut in (False, True):  # first who is tied together, then on which side of bounds they are
        for g in range(groups):
            if carriers[g] == 0:
                continue
            size = 0
            for i in range(start[g], start[g + 1]):
                size += number[i]
            equal = carriers[g] / size
            for i in range(start[g], start[g + 1]):
                most, few = max(limit[who[i]], equal), least * equal
                high = share[i] >= most * (1.0 - 2.0 * rounding)
                low = share[i] <= few * (1.0 + 2.0 * rounding)
                if (high or low) != cut:
                    continue
                one, its = _found(above, apart, g)
                other, others = _found(above, apart, groups + who[i])
                if cut:
                    if one == other:
                        told = its - others
                        wrong += high and not low and told < np.log(most) - agree
                        wrong += low and not high and told > np.log(few) + agree
                elif one == other:
                    wrong += abs(its - others - np.log(share[i])) > agree
                else:
                    above[one] = other
                    apart[one] = np.log(share[i]) - its + others
    log, part = np.empty(signatures), np.empty(signatures, np.int64)
    for s in range(signatures):
        part[s], mine = _found(above, apart, groups + s)
        log[s] = -mine
    return log, part, wrong


@kernel
def _found(above: NDArray[np.int64], apart: Floats, node: int) -> tuple[int, float]:
    """The part of a node, and by how much it is more than that: log v of a group, and minus log w
    of a signature."""
    top, total = node, 0.0
    while above[top] != top:
        total += apart[top]
        top = above[top]
    left = total
    while above[node] != top and node != top:  # next time the way is short
        further, mine = above[node], apart[node]
        above[node], apart[node] = top, left
        node, left = further, left - mine
    return top, total
