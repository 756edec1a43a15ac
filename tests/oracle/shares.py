"""Shares of a group's events by odds, person by person and group by group, from the definition.

A logit with one weight per kind for everybody and for each value of each attribute, held at 0 by a
ridge, is fitted by Newton's method to the people of groups of two or more, each with the shares
that they have now; then each group's table of people and kinds is scaled until rows and columns
fit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def shares_of_kinds(
    people: Sequence[tuple[int, ...]],
    group: Sequence[int],
    kinds_held: Sequence[Sequence[float]],
    *,
    rounds: int,
    ridge: float,
) -> Floats:
    """people x kinds: how much of each kind of value everybody has. `people` gives attribute codes,
    `kinds_held` how many of each kind each group publishes."""
    held = np.array(kinds_held, dtype=float)
    members = [np.array([i for i, own in enumerate(group) if own == g]) for g in range(len(held))]
    mixed = [g for g in range(len(held)) if (held[g] > 0).sum() > 1]
    shares = np.zeros((len(people), held.shape[1]))
    for g, inside in enumerate(members):
        shares[inside] = held[g] / len(inside)
    taking_part = np.concatenate([inside for inside in members if len(inside) > 1])
    design = _design(people)
    for _ in range(rounds):
        weights = _newton(design[taking_part], shares[taking_part], ridge)
        odds = np.exp(design @ weights)
        for g in mixed:
            shares[members[g]] = _scaled(odds[members[g]], held[g])
    return shares


def _design(people: Sequence[tuple[int, ...]]) -> Floats:
    columns = [np.ones(len(people))]
    for attribute in zip(*people, strict=True):
        columns += [np.array(attribute) == code for code in range(max(attribute) + 1)]
    return np.column_stack(columns).astype(float)


def _newton(design: Floats, shares: Floats, ridge: float) -> Floats:
    terms, kinds = design.shape[1], shares.shape[1]
    weights = np.zeros((terms, kinds))
    for _ in range(20):
        chance = np.exp(design @ weights)
        chance /= chance.sum(axis=1, keepdims=True)
        slope = design.T @ (chance - shares) + ridge * weights
        curve = np.zeros((terms, kinds, terms, kinds))
        for a in range(kinds):
            for b in range(kinds):
                w = chance[:, a] * ((a == b) - chance[:, b])
                curve[:, a, :, b] = design.T @ (w[:, None] * design)
        matrix = curve.reshape(terms * kinds, -1) + ridge * np.eye(terms * kinds)
        weights = weights - np.linalg.solve(matrix, slope.ravel()).reshape(weights.shape)
    return weights


def _scaled(odds: Floats, held: Floats) -> Floats:
    table = odds * (held > 0)
    for _ in range(500):
        table = table / table.sum(axis=1, keepdims=True)
        table = table * np.divide(held, table.sum(axis=0), out=np.zeros_like(held), where=held > 0)
    return table
