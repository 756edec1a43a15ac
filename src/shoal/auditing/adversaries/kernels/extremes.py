"""The least and the largest that averages and shares over a group can be, for `averages.py`.

Of every tuple j a number f_j is known to lie between `least` and `most`, and R_jv f_j add up to 1
over the tuples that are still there; R_jv is `held`. `depth` tuples are gone, nobody knows which.
"""

from __future__ import annotations

from shoal.arrays import Floats, IntArray, Ints
from shoal.compiling import kernel, part


@part
def average_limits(
    held: Floats,
    other: Floats,
    sizes: Ints,
    order: IntArray,
    least: Floats,
    most: Floats,
    depth: int,
    slack: float,
) -> tuple[float, float]:
    """The least and the largest A = sum_j R_ju f_j over those who can hold v, where R_jv f_j add up
    to 1; R_jv is `held`, R_ju `other`.

    `depth` tuples are gone. For any number m, A = m + sum_j (R_ju - m R_jv) f_j; the sum over all
    tuples is limited by its terms, and who is gone can have lowered it by least_j (m R_jv - R_ju)
    at most, or raised it by the negative of that. With m the ratio at which nothing is left to hand
    out, m and all terms come to the A of a group in which nobody is gone.
    """
    given, value = 0.0, 0.0
    for s in range(len(held)):
        if held[s] > 0.0:
            given += sizes[s] * held[s] * least[s]
            value += sizes[s] * other[s] * least[s]
    left, margin = 1.0 - given, slack * (1.0 + given)
    low, low_ratio = _handed_out(held, other, sizes, order, 1, least, most, left - margin)
    high, high_ratio = _handed_out(held, other, sizes, order, -1, least, most, left + margin)
    lost, won = 0.0, 0.0
    for s in range(len(held)):
        if held[s] > 0.0:
            more = other[s] * (1.0 + slack) - low_ratio * held[s] * (1.0 - slack)
            lost = max(lost, least[s] * more)
            more = high_ratio * held[s] * (1.0 + slack) - other[s] * (1.0 - slack)
            won = max(won, least[s] * more)
    low = value + low - slack * (value + abs(low)) - depth * lost
    high = value + high + slack * (value + abs(high)) + depth * won
    return low, high


@kernel
def _handed_out(
    held: Floats,
    other: Floats,
    sizes: Ints,
    order: IntArray,
    step: int,
    least: Floats,
    most: Floats,
    left: float,
) -> tuple[float, float]:
    """What A gains if f is raised from its least to its most in this order, forwards or backwards,
    until the R_jv f_j have grown by `left`, and the ratio reached. Less than nothing is taken at
    the first ratio."""
    gain, ratio = 0.0, 0.0
    for t in range(len(order)):
        s = order[t if step > 0 else -1 - t]
        if held[s] > 0.0:
            ratio = other[s] / held[s]
            room = sizes[s] * held[s] * max(0.0, most[s] - least[s])
            taken = min(room, left)
            gain += taken * ratio
            left -= taken
            if left <= 0.0:
                break
    return gain + left * ratio, ratio


@part
def share_limits(
    held: Floats, other: Floats, sizes: Ints, least: Floats, most: Floats, depth: int, slack: float
) -> tuple[float, float]:
    """Bounds of the share of a value that is with tuples for whom another is impossible: by what
    these can hold, and by what is left to them. Again `depth` tuples are gone."""
    few, many, rest_few, rest_many, gone, rest_gone = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    impossible = False
    for s in range(len(held)):
        if held[s] == 0.0:
            continue
        one = held[s] * least[s]
        if other[s] == 0.0:
            impossible = True
            few += sizes[s] * one
            many += sizes[s] * held[s] * most[s]
            gone = max(gone, one)
        else:
            rest_few += sizes[s] * one
            rest_many += sizes[s] * held[s] * most[s]
            rest_gone = max(rest_gone, one)
    if not impossible:
        return 0.0, 0.0
    few = max(few - depth * gone, 1.0 - rest_many) - slack * (1.0 + few)
    many = min(many, 1.0 - rest_few + depth * rest_gone) + slack * (1.0 + rest_few)
    return min(1.0, max(0.0, few)), max(0.0, many)
