"""The paper's Theorem 1 in odds, the minimum size of a group, and which r is possible at all.

Theorem 1 says: if x occurs once among N tuples and every probability deviation is at most
    delta_max = (N-r) f / (f (r-1)/(1-f) + (N-1)),
then nobody is linked to x with more than 1/r. In odds o = f/(1-f) that is
    o_max / o_min <= (N-1)/(r-1).
It holds against the binary adversary, and is tight there. It does not hold against the joint
adversary of the paper's own definition (see docs/theory.md), so meeting it proves nothing alone.
"""

from __future__ import annotations

import math

from shoal.data.spec import checked_r
from shoal.errors import InputError


def delta_max(*, n: int, r: float, f_max: float) -> float:
    """The largest deviation of global probabilities that Theorem 1 allows in a group of `n`.

    >>> import shoal
    >>> round(shoal.delta_max(n=10, r=5, f_max=0.1), 4)
    0.0529
    """
    r = checked_r(r)
    _probability("f_max", f_max)
    if n < 1:
        raise InputError("group-size", f"A group of {n} is none.", "Give n of at least 1.")
    if f_max in (0.0, 1.0):
        return 0.0
    return (n - r) * f_max / (f_max * (r - 1) / (1 - f_max) + (n - 1))


def minimum_size(*, delta: float, f_max: float, r: float) -> int:
    """The smallest group that meets Theorem 1 with the deviation `delta` below `f_max`.

    N_o = 1 + (r-1) o_max/o_min; an InputError when no size does (f_min = 0 < f_max, or f_max = 1).

    >>> import shoal
    >>> shoal.minimum_size(delta=0.05, f_max=0.1, r=5)
    10
    """
    r = checked_r(r)
    _probability("f_max", f_max)
    _probability("delta", delta)
    if delta == 0:
        return math.ceil(r)
    if delta >= f_max or f_max == 1:
        raise InputError(
            "no-size",
            f"No group size protects when f_max is {f_max:g} and delta {delta:g}.",
            "Keep tuples that cannot or must have the value out of the group.",
        )
    f_min = f_max - delta
    size = 1 + (r - 1) * (f_max * (1 - f_min)) / (f_min * (1 - f_max))
    return math.ceil(size - 1e-12 * size)


def _probability(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise InputError("probability", f"{name} is {value!r}.", "Give a probability from 0 to 1.")
