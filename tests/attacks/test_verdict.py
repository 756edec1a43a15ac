"""The verdict: when the limit is beaten, and when nothing can be told."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attacks import Finding, Guesses, Rate, Scene, run
from shoal.attacks.rate import BEATEN, CERTAIN, HELD, TOO_FEW, UNPROMISED, UNTRIED
from shoal.knowledge import Knowledge
from tests.attacks.people import deal, made_up
from tests.attacks.test_attackers import ILL, WELL, Person, crowd, scene_of

FIFTH = 0.2


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"unknown": Rate(1_000, 300), "promised": FIFTH}, BEATEN),
        ({"unknown": Rate(1_000, 200), "promised": FIFTH}, HELD),
        ({"unknown": Rate(1_000, 220), "promised": FIFTH}, HELD),  # above, but not its interval
        ({"unknown": Rate(10, 2), "promised": FIFTH}, TOO_FEW),
        ({"unknown": Rate(10, 10), "promised": FIFTH}, BEATEN),
        ({"everybody": Rate(1_000, 400), "allowed": 0.3}, BEATEN),
        ({"everybody": Rate(1_000, 300), "allowed": 0.3}, HELD),
        ({"everybody": Rate(1_000, 300), "allowed": 0.3, "surprises": 1}, BEATEN),
        ({"everybody": Rate(1_000, 300)}, UNPROMISED),
        ({}, UNTRIED),
    ],
)
def test_the_rules(found: dict[str, object], said: str) -> None:
    assert Finding("somebody", "thinks", **found).verdict == said  # type: ignore[arg-type]


def test_it_allows_for_how_many_attackers_took_part() -> None:
    just = Rate(1_000, 228)
    assert just.interval[0] > FIFTH
    alone, together = (
        Finding("one", "", unknown=just, promised=FIFTH, attackers=many) for many in (1, 20)
    )
    assert (alone.verdict, together.verdict) == (BEATEN, HELD)


class Certain:
    """Is certain of some, and names them."""

    name = "certain"
    reasoning = "is certain"

    def __init__(self, right: bool) -> None:
        self.right = right

    def attack(self, scene: Scene) -> list[Guesses]:
        lineup = scene.lineup
        first = int(np.flatnonzero((lineup.carrying == lineup.people) == self.right)[0])
        chance = np.zeros(len(lineup.signature))
        chance[first] = 1.0
        return [Guesses(lineup, np.zeros(len(chance)), chance=chance)]


@pytest.mark.parametrize(("right", "said"), [(True, BEATEN), (False, HELD)])
def test_one_person_who_is_rightly_named_with_certainty_is_enough(right: bool, said: str) -> None:
    table = made_up(0, rows=600, carriers=0.25)
    scene = Scene(table, deal(table, 0), Knowledge.of(table))
    found = run(scene, [Certain(right)])["certain"]
    assert found.verdict == said
    assert found.certain.hits == found.surprises == (found.certain.tries if right else 0)
    assert found.to_dict()["certain"]["not_by_counts"] == found.surprises


class TwoWays(Certain):
    """In one way nearly everybody who is named carries; in the other somebody is certain."""

    name = "two ways"

    def __init__(self, last: bool) -> None:
        super().__init__(right=True)
        self.last = last

    def attack(self, scene: Scene) -> list[Guesses]:
        lineup = scene.lineup
        ways = [Guesses(lineup, lineup.carrying / lineup.people), *super().attack(scene)]
        return ways if self.last else ways[::-1]


@pytest.mark.parametrize("last", [True, False])
def test_a_surprise_counts_in_whichever_way_it_is_found(last: bool) -> None:
    table = made_up(0, rows=600, carriers=0.25)
    scene = Scene(table, deal(table, 0), Knowledge.of(table))
    alone = run(scene, [Certain(True)])["certain"]
    found = run(scene, [TwoWays(last)])["two ways"]
    assert found.everybody.rate > alone.everybody.rate
    assert (found.certain, found.surprises) == (alone.certain, alone.surprises)
    assert found.surprises > 0


def test_whom_the_counts_alone_name_with_certainty_is_no_surprise() -> None:
    """Everybody of town A is ill, which is known."""
    groups: list[list[Person]] = [
        [(30 + i % 7, "f", "A", ILL), *[(31, "m", "B", WELL)] * 4] for i in range(40)
    ]
    found = run(scene_of(groups + crowd(300), views=[("town",)]), [Certain(True)])["certain"]
    assert found.certain.hits > 0
    assert found.surprises == 0


def test_what_is_allowed_is_the_mean_of_what_all_counts_say() -> None:
    table = made_up(3, rows=600, carriers=0.25)
    scene = Scene(table, deal(table, 3), Knowledge.of(table))
    lineup, expected, people = scene.lineup, 0.0, 0

    class Everybody:
        name, reasoning = "everybody", "names the first of each group"

        def attack(self, scene: Scene) -> list[Guesses]:
            return [Guesses(lineup, -np.arange(len(lineup.signature), dtype=float))]

    for case in range(lineup.questions):
        first = int(lineup.start[case])
        event = int(lineup.event[case])
        chance = float(scene.by_counts[lineup.signature[first], event])
        assert chance < CERTAIN
        expected, people = expected + max(1 / table.event_r[event], chance), people + 1
    found = run(scene, [Everybody()])["everybody"]
    assert found.everybody.tries == people
    assert found.allowed == pytest.approx(expected / people)
