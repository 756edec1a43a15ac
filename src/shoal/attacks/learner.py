"""The learner: Kifer's deFinetti attack. It knows nothing but the release, and learns from all its
groups at once what cases are like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from shoal.arrays import Floats, IntArray
from shoal.attacks.attacker import Guesses
from shoal.attacks.lineup import Lineup
from shoal.attacks.scene import Scene
from shoal.data.table.bands import bands_of

ROUNDS, ENOUGH = 60, 1e-6
BANDS = 16
"""Numbers and dates of more values are learnt in so many bands, of as many people each: of a value
that few people have, groups teach nothing."""


class Learner:
    """Naive Bayes, by expectation and maximisation from the groups' shares."""

    name = "learner"
    reasoning = "learns from the release alone what cases are like (deFinetti), and applies it"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        if scene.lineup.questions:
            told = learnt(scene.lineup)
            yield Guesses(scene.lineup, told, chance=scene.lineup.posterior(np.exp(told)))


def learnt(lineup: Lineup) -> Floats:
    """The logarithm of each suspect's odds, as the release teaches them."""
    told = np.zeros(len(lineup.signature))
    for event in np.unique(lineup.event):
        cases = np.flatnonzero(lineup.event == event)
        one = lineup.only(cases)
        told[np.flatnonzero(lineup.event[lineup.question] == event)] = _learnt(one)
    return told


def _learnt(lineup: Lineup) -> Floats:
    odds, attributes = np.ones(len(lineup.signature)), list(_attributes(lineup))
    expected: Floats = np.zeros(0)
    for _ in range(ROUNDS):
        # Whoever is in several cases of one event, as copies of a group are, counts in each.
        share = lineup.carriers[lineup.question] * odds / lineup.total(odds)
        again = np.asarray(lineup.people * np.minimum(share, 1.0), np.float64)
        if len(expected) and np.abs(again - expected).max() < ENOUGH:
            break
        expected = again
        odds = np.exp(naive_bayes(lineup, attributes, expected)[lineup.signature])
    return np.log(odds)


def naive_bayes(lineup: Lineup, attributes: Sequence[IntArray], carrying: Floats) -> Floats:
    """The log odds of each signature, from its attributes, how many of each suspect's people carry
    and all who are published; whoever is in no case does not carry."""
    table = lineup.table
    carriers: Floats = np.bincount(lineup.signature, carrying, len(table.signatures)).astype(
        np.float64
    )
    others = np.maximum(lineup.present - carriers, 0.0)
    told = np.full(len(table.signatures), np.log(carriers.sum() + 1) - np.log(others.sum() + 1))
    for codes in attributes:
        size = int(codes.max()) + 1
        common, rare = (_frequencies(codes, who, size) for who in (carriers, others))
        told += np.log(common / rare)[codes]
    return told


def _attributes(lineup: Lineup) -> Iterator[IntArray]:
    """What each signature has of every QI: a value, or a band of the published people's numbers."""
    table = lineup.table
    for position, column in enumerate(table.qi):
        codes = table.signatures[:, position]
        if column.ordered and len(column) > BANDS:
            yield bands_of(table, position, BANDS, lineup.present)[codes]
        else:
            yield codes


def _frequencies(codes: IntArray, people: Floats, size: int) -> Floats:
    """How common each value is among these people, one more of each counted."""
    counts = np.bincount(codes, people, size) + 1.0
    return np.asarray(counts / counts.sum())
