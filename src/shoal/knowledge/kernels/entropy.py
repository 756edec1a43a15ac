"""Groups whose people are weighed by odds: how many cases are expected, and how that number moves.

A group of N people has c cases; a person's odds are exp(score of their signature). Its cases are a
conditional Bernoulli design. Lines are (group, signature, people), the lines of group g those from
`start[g]` to `start[g + 1]`.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints, Whole, Words
from shoal.compiling import kernel
from shoal.knowledge.kernels.bernoulli import by_logits, sigmoid, tilted

ROUNDS = 4


@kernel
def add_to_strata(expected: Floats, amount: Floats, index: Whole) -> None:
    """Adds everybody's amount to their stratum of one view."""
    for s in range(len(amount)):
        expected[index[s]] += amount[s]


@kernel
def add_numbers(sums: Words, number: Words, index: Whole) -> None:
    """Adds everybody's number to their stratum of one view, whatever overflows."""
    for s in range(len(number)):
        sums[index[s]] += number[s]


@kernel
def scores_of(theta: Floats, start: Ints, stratum: IntArray) -> Floats:
    """Everybody's score, the sum over their strata."""
    score = np.empty(len(start) - 1)
    for s in range(len(score)):
        total = 0.0
        for k in range(start[s], start[s + 1]):
            total += theta[stratum[k]]
        score[s] = total
    return score


@kernel
def by_stratum(amount: Floats, start: Ints, stratum: IntArray, count: int) -> Floats:
    """Everybody's amount, added up by stratum."""
    expected = np.zeros(count)
    for s in range(len(amount)):
        mine = amount[s]
        for k in range(start[s], start[s + 1]):
            expected[stratum[k]] += mine
    return expected


@kernel
def posteriors(
    score: Floats,
    start: Ints,
    signature: IntArray,
    people: Ints,
    copies: Ints,
    cases: Ints,
    exact: Bools,
    posterior: Floats,
    weight: Floats,
    total: Floats,
) -> float:
    """Fills in each line's posterior, and a weight by which the covariances in a group are
    diag(weight) - weight weight' / total; gives the logarithm of the sum over all worlds.

    `exact` groups are so to the last digits. In others, whose cases vary by many, the sum is the
    saddle point's: posteriors are off by the order of 1 / variance^2.
    """
    value = 0.0
    for g in range(len(cases)):
        first, last = start[g], start[g + 1]
        number, chance, move = people[first:last], posterior[first:last], weight[first:last]
        logit = np.empty(last - first)
        for k in range(last - first):
            logit[k] = score[signature[first + k]]
        if exact[g]:
            value += copies[g] * by_logits(logit, number, cases[g], chance)
            total[g] = _weights(chance, number, cases[g], move)
        else:
            value += copies[g] * _saddle(logit, number, cases[g], chance, move)
            total[g] = 0.0
            for k in range(last - first):
                total[g] += number[k] * move[k]
    return value


@kernel
def _weights(chance: Floats, number: Ints, cases: int, move: Floats) -> float:
    """Solves weight (1 - weight / total) = variance of each person: exact for one case, and else
    Hajek's approximation of covariances. Gives the total."""
    if cases == 1:
        for k in range(len(chance)):
            move[k] = chance[k]
        return 1.0
    total = 0.0
    for k in range(len(chance)):
        move[k] = chance[k] * (1.0 - chance[k])
        total += number[k] * move[k]
    for _ in range(ROUNDS):
        before, total = max(total, 1e-300), 0.0
        for k in range(len(chance)):
            least = 0.5 if move[k] > 0.5 * before else 1.0 - move[k] / before
            move[k] = chance[k] * (1.0 - chance[k]) / least
            total += number[k] * move[k]
    return max(total, 1e-300)


@kernel
def _saddle(logit: Floats, number: Ints, cases: int, chance: Floats, move: Floats) -> float:
    """Posteriors by the saddle point, and the logarithm of the sum over all worlds."""
    tilt = tilted(logit, number, cases)
    value, variance, skew = -cases * tilt, 0.0, 0.0
    for k in range(len(logit)):
        z = logit[k] + tilt
        chance[k] = sigmoid(z)
        move[k] = chance[k] * sigmoid(-z)
        value += number[k] * (max(0.0, z) + np.log1p(np.exp(-abs(z))))
        variance += number[k] * move[k]
        skew += number[k] * move[k] * (1.0 - 2.0 * chance[k])
    for k in range(len(logit)):
        chance[k] += move[k] * (2.0 * chance[k] - 1.0 + skew / variance) / (2.0 * variance)
    return float(value - 0.5 * np.log(2.0 * np.pi * variance))


@kernel
def add_lines(
    amount: Floats, of_line: Floats, start: Ints, signature: IntArray, people: Ints, copies: Ints
) -> None:
    """Adds up by signature what is expected of each person of a line."""
    for g in range(len(copies)):
        for k in range(start[g], start[g + 1]):
            amount[signature[k]] += copies[g] * people[k] * of_line[k]


@kernel
def add_moves(
    amount: Floats,
    change: Floats,
    weight: Floats,
    total: Floats,
    start: Ints,
    signature: IntArray,
    people: Ints,
    copies: Ints,
) -> None:
    """Adds up by signature how expected cases move when scores change."""
    for g in range(len(copies)):
        mean = 0.0
        for k in range(start[g], start[g + 1]):
            mean += people[k] * weight[k] * change[signature[k]]
        mean /= total[g]
        for k in range(start[g], start[g + 1]):
            moved = weight[k] * (change[signature[k]] - mean)
            amount[signature[k]] += copies[g] * people[k] * moved


@kernel
def settle_strata(index: Whole, cases: Floats, people: Floats, never: Bools, always: Bools) -> None:
    """Marks the signatures of strata that have no case, or nothing but cases; `people` are those of
    each signature of whom it is open."""
    there = np.zeros(len(cases))
    for s in range(len(index)):
        there[index[s]] += people[s]
    for s in range(len(index)):
        k = index[s]
        never[s] |= cases[k] < 0.5
        always[s] |= cases[k] > there[k] - 0.5


@kernel
def settle_rest(
    coarse: Whole,
    fine: Whole,
    cases: Floats,
    inside: Floats,
    outer: Ints,
    people: Floats,
    never: Bools,
    always: Bools,
) -> None:
    """The same of whoever is in a stratum of one view and in no large class of a finer view: how
    many cases are among them is a difference of counts. `cases` and those `inside` are of the
    coarse and the fine strata; `outer`: which of the coarse ones each of the fine ones is in."""
    there, within = np.zeros(len(cases)), np.zeros(len(cases))
    for k in range(1, len(inside)):
        within[outer[k]] += inside[k]
    for s in range(len(fine)):
        if fine[s] == 0:
            there[coarse[s]] += people[s]
    for s in range(len(fine)):
        if fine[s] == 0:
            k = coarse[s]
            rest = cases[k] - within[k]
            never[s] |= rest < 0.5
            always[s] |= rest > there[k] - 0.5
