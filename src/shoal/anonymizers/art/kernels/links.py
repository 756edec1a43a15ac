"""Links in a pure group, strictly: c carriers of one event value among people who else hold one
value.

With odds o_j the weight of the world in which the people C carry is prod_{j in C} o_j, so that the
posterior of j is o_j e_{c-1}(o without j) / e_c(o), e_k being the elementary symmetric sums: o_j
over their sum for one carrier. The sums without j are put together from those of the people before
and after j: nothing is subtracted, so that nothing is lost to rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.compiling import kernel

TINY = 1e-250
"""Sums below this have lost digits."""


@kernel
def posteriors(odds: NDArray[np.float64], carriers: int, answer: NDArray[np.float64]) -> None:
    """Everybody's posterior in one group, written into `answer`; `odds` are theirs in one view. It
    is 1 where it cannot be told: no world is possible, or the sums leave floating point."""
    n, total, top = len(odds), 0.0, 0.0
    for i in range(n):
        total += odds[i]
        top = max(top, odds[i])
    if carriers >= n or top == 0.0 or not total < np.inf:
        answer[:n] = 1.0
        return
    if carriers == 1:
        for i in range(n):
            answer[i] = odds[i] / total
        return
    before = np.zeros((n + 1, carriers + 1))
    after = np.zeros(carriers + 1)
    before[0, 0] = after[0] = 1.0
    for i in range(n):
        for k in range(carriers + 1):
            before[i + 1, k] = before[i, k]
            if k > 0:
                before[i + 1, k] += before[i, k - 1] * (odds[i] / top)
    every = before[n, carriers]
    if not TINY < every < np.inf:
        answer[:n] = 1.0
        return
    for i in range(n - 1, -1, -1):
        with_i = 0.0
        for k in range(carriers):
            with_i += before[i, k] * after[carriers - 1 - k]
        answer[i] = with_i * (odds[i] / top) / every
        for k in range(carriers, 0, -1):
            after[k] += after[k - 1] * (odds[i] / top)


@kernel
def largest_links(
    odds: NDArray[np.float64],
    strength: NDArray[np.float64],
    starts: NDArray[np.int64],
    carriers: NDArray[np.int64],
    tolerance: float,
) -> NDArray[np.float64]:
    """The largest posterior of each group times its strength, rounded up by the tolerance: above 1
    somebody is linked above their limit.

    odds, strength: of the people of all groups, one group after another, in one view.
    starts: where each group begins, and where the last ends.
    """
    worst = np.zeros(len(carriers))
    answer = np.empty(len(odds))
    for g in range(len(carriers)):
        first, last = starts[g], starts[g + 1]
        posteriors(odds[first:last], carriers[g], answer)
        for i in range(first, last):
            worst[g] = max(worst[g], strength[i] * (answer[i - first] + tolerance))
    return worst
