"""Precision among the surest: that of everybody listed one by one."""

from __future__ import annotations

from itertools import combinations
from math import ceil, floor
from statistics import mean

import numpy as np
import pytest

from shoal.attacks import Guesses, Scene, Surest, as_attackers, run
from shoal.attacks.rate import Rate
from shoal.attacks.surest import COUNTS, Ranked
from shoal.knowledge import Knowledge
from tests.attacks.people import made_up, some_groups, suspects_of
from tests.attacks.test_attackers import attacked, marked, scene_of

Person = tuple[float, float, bool]
"""How sure one is of somebody, how often they carry, whether they were known above 1/r."""


def slowly(everybody: list[Person], count: int) -> float:
    """How many of the surest carry, person by person."""
    right, left = 0.0, count
    for rank in sorted({rank for rank, _, _ in everybody}, reverse=True):
        equals = [carries for other, carries, _ in everybody if other == rank]
        if left <= len(equals):
            return right + left * mean(equals)
        right, left = right + sum(equals), left - len(equals)
    return right


class Whim:
    """Has a score of a few steps, so that many are equal, and knows something beforehand."""

    name = "whim"
    reasoning = "has whims"

    def attack(self, scene: Scene) -> list[Guesses]:
        rng = scene.rng(self.name)
        lineup = scene.lineup
        score = rng.integers(6, size=len(lineup.signature)).astype(float)
        chance = rng.integers(1, 8, size=len(score)) / 10
        before = rng.integers(5, size=scene.carriers.shape).astype(float)
        return [Guesses(lineup, score, chance=chance, before=before)]


@pytest.mark.parametrize("seed", range(6))
def test_the_surest_are_those_of_a_list_of_everybody(seed: int) -> None:
    table = made_up(seed, rows=240, carriers=0.5)
    scene = Scene(table, some_groups(table, seed), Knowledge.of(table), seed=seed)
    (guesses,), lineup = Whim().attack(scene), scene.lineup
    assert guesses.chance is not None
    assert guesses.before is not None
    named, views = list[Person](), list[list[Person]]([] for _ in scene.knowledge.views)
    for case in range(lineup.questions):
        event = int(lineup.event[case])
        for i in suspects_of(lineup, case):
            signature, rank = int(lineup.signature[i]), float(guesses.chance[i])
            known = scene.by_counts[signature, event] > 1 / table.event_r[event] + 1e-9
            share, people = lineup.carrying[i] / lineup.people[i], int(lineup.people[i])
            named += [(rank, share, known)] * people
            for w, view in enumerate(views):
                view += [(rank, float(lineup.claimed[i, w]), known)] * people
    alone = list[Person]()
    for signature in range(len(table.signatures)):
        for event in range(len(table.events)):
            people = int(table.signature_rows[signature])
            known = scene.by_counts[signature, event] > 1 / table.event_r[event] + 1e-9
            share = scene.carriers[signature, event] / people
            alone += [(float(guesses.before[signature, event]), share, known)] * people
    found = run(scene, [Whim()])["whim"].surest
    assert any(one.right % 1 for one in found)
    expected = []
    for among, sides in (("everybody", {True, False}), ("unknown", {False}), ("known", {True})):
        mine, before = ([one for one in all_ if one[2] in sides] for all_ in (named, alone))
        for count in (one for one in COUNTS if one <= len(mine)):
            claimed = [slowly([one for one in view if one[2] in sides], count) for view in views]
            expected.append(
                (among, count, slowly(mine, count), slowly(before, count), max(claimed))
            )
    assert [(one.among, one.people) for one in found] == [one[:2] for one in expected]
    for one, (_, _, right, without, control) in zip(found, expected, strict=True):
        assert one.right == pytest.approx(right)
        assert one.without == pytest.approx(without)
        assert one.control == pytest.approx(control, rel=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_of_equals_everybody_has_the_same_chance_to_be_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rank, people = rng.integers(3, size=4).astype(float), rng.integers(1, 4, 4)
    carrying = rng.integers(0, people + 1)
    person = [(rank[i], int(k < carrying[i])) for i in range(4) for k in range(people[i])]
    for count in range(1, len(person) + 1):
        worlds = list(combinations(person, count))
        best = max(sum(r for r, _ in world) for world in worlds)
        top = [sum(c for _, c in world) for world in worlds if sum(r for r, _ in world) == best]
        assert Ranked(rank, people, carrying).right(count) == pytest.approx(mean(top))


def test_an_expectation_has_the_intervals_of_both_its_neighbours() -> None:
    one = Surest("everybody", 100, 71.5, 69.0, 50.0, chosen_among=3)
    low, high = Rate(100, floor(71.5), 3).interval[0], Rate(100, ceil(71.5), 3).interval[1]
    assert one.interval == (low, high)
    assert one.result.rate == 0.715
    assert Surest("everybody", 100, 71.0, 69.0, 50.0).interval == Rate(100, 71).interval


def test_the_sentence_says_how_many_of_the_surest_carry() -> None:
    found = attacked(scene_of(marked()), "counter-all")["counter-all"]
    told = {(one.among, one.people): one for one in found.surest}
    assert told["everybody", 50].right == 50
    one = told["everybody", 100]
    assert one.right == pytest.approx(80, abs=1)
    assert (
        f"Of the 100 people this attacker is surest of, {one.right:.0f} have the protected value; "
        f"without the release {one.without:.0f} of its surest 100." in found.sentence
    )
    few = run(scene_of(marked(2)), as_attackers(["counter-all"]))["counter-all"]
    assert few.surest == ()
    assert "surest" not in few.sentence
