"""Other models of privacy from their definitions: plain lists of values, one per group. Nothing
here may be imported from `shoal`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

Groups = Sequence[Sequence[str]]


def shares(values: Sequence[str]) -> dict[str, float]:
    return {value: count / len(values) for value, count in Counter(values).items()}


def recursive_holds(groups: Groups, c: float, l: int) -> bool:
    """r_1 < c (r_l + ... + r_m), counts of a group in falling order."""
    for group in groups:
        counts = sorted(Counter(group).values(), reverse=True)
        if not counts[0] < c * sum(counts[l - 1 :]):
            return False
    return True


def enhanced_holds(groups: Groups, beta: float) -> bool:
    """Every gain of a share is at most min(beta, -ln p)."""
    whole = shares([value for group in groups for value in group])
    for group in groups:
        for value, share in shares(group).items():
            gain = (share - whole[value]) / whole[value]
            if gain > min(beta, -math.log(whole[value])) + 1e-12:
                return False
    return True


def entropy(values: Sequence[str]) -> float:
    return -sum(share * math.log(share) for share in shares(values).values())


def kernel_prior(
    people: Sequence[Sequence[float | str]],
    values: Sequence[str],
    bandwidth: float,
    person: int,
    folds: Sequence[int] | None = None,
) -> dict[str, float]:
    """The mean over everybody (of another fold), weighted by likeness."""
    weights = dict.fromkeys(values, 0.0)
    for other, value in enumerate(values):
        if folds is not None and folds[other] == folds[person]:
            continue
        weight = 1.0
        for place, (mine, theirs) in enumerate(zip(people[person], people[other], strict=True)):
            if isinstance(mine, str) or isinstance(theirs, str):
                weight *= 1.0 if mine == theirs else bandwidth
                continue
            column = [float(one[place]) for one in people]
            span = max(column) - min(column)
            far = abs(mine - theirs) / span if span else 0.0
            weight *= max(0.0, 1 - (far / bandwidth) ** 2)
        weights[value] += weight
    total = sum(weights.values())
    return {
        value: weight / total if total else shares(values).get(value, 0.0)
        for value, weight in weights.items()
    }


def largest_change(
    priors: Sequence[dict[str, float]], values: Sequence[str], groups: Sequence[Sequence[int]]
) -> float:
    """The largest Jensen-Shannon divergence of anybody's prior and omega estimate, in bits."""
    largest = 0.0
    for group in groups:
        counts = Counter(values[j] for j in group)
        for j in group:
            part = {
                value: count * priors[j][value] / sum(priors[i][value] for i in group)
                for value, count in counts.items()
            }
            after = {value: one / sum(part.values()) for value, one in part.items()}
            change = 0.0
            for value, before in priors[j].items():
                middle = (before + after.get(value, 0.0)) / 2
                for one in (before, after.get(value, 0.0)):
                    change += one * math.log2(one / middle) / 2 if one else 0.0
            largest = max(largest, change)
    return largest
