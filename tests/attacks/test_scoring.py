"""Figures: the control holds what is claimed, the counter's certainties are those of enumeration,
baselines those of an obvious count."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from shoal.attacks import Guesses, Scene, as_attackers, run
from shoal.attacks.attacker import NotApplicableError
from shoal.attacks.counting import believed, certainties
from shoal.attacks.lineup import Lineup
from shoal.attacks.registry import attacker_names, register
from shoal.attacks.rules import Likeliest
from shoal.attacks.scoring import score
from shoal.attacks.surest import Ranked
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.knowledge import Knowledge, event_chances
from tests.attacks.people import deal, made_up, some_groups, suspects_of


def drawn_anew(lineup: Lineup, rng: np.random.Generator) -> Lineup:
    """Another truth: in each case one person, by what is claimed."""
    carrying = np.zeros(len(lineup.signature), np.int64)
    for case in range(lineup.questions):
        mine = np.array(suspects_of(lineup, case))
        chance = lineup.claimed[mine, 0].astype(float) * lineup.people[mine]
        carrying[rng.choice(mine, p=chance / chance.sum())] = 1
    return replace(lineup, carrying=carrying)


def test_on_the_control_the_interval_holds_the_claimed_rate() -> None:
    table = made_up(0, rows=600, carriers=0.25)
    one_view = Knowledge(Knowledge.of(table).views[-1:], "one view")
    scene = Scene(table, deal(table, 0), one_view)
    lineup = scene.lineup
    assert (lineup.carriers == 1).all()
    rng, held, runs = np.random.default_rng(0), 0, 100
    for _ in range(runs):
        other = drawn_anew(lineup, rng)
        guess = Guesses(other, lineup.claimed[:, 0].astype(float))
        found = score(replace(scene, seed=int(rng.integers(1_000))), Likeliest(), [guess])
        assert found.control is not None
        low, high = found.everybody.interval
        held += low <= found.control.rate <= high
        assert abs(found.control.high - found.control.low) < 0.2
    assert held >= 90


@pytest.mark.parametrize("seed", range(18))
def test_certainties_are_those_of_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = made_up(seed, rows=8, carriers=0.8, min_support=2)
    groups = np.array([*rng.permutation(np.arange(14) % 5), -1, -1], np.int32)
    scene = Scene(table, Grouping.of_rows(table, groups), Knowledge.of(table))
    view = scene.knowledge.views[seed % len(scene.knowledge.views)]
    found = certainties(scene.lineup, scene.missing, view)
    for event in range(len(table.events)):
        # Everybody in a case of the event, by case and class.
        sides = [(one, c) for one in (scene.lineup, scene.missing) for c in range(one.questions)]
        cases = [(one, c) for one, c in sides if one.event[c] == event]
        people = [
            [i for i in suspects_of(one, c) for _ in range(one.people[i])] for one, c in cases
        ]
        wanted = np.bincount(
            view.index[table.everybody.signature[table.everybody.event == event]],
            minlength=len(view.distributions),
        )
        always: list[set[tuple[int, int]]] = []
        choices = [
            list(combinations(range(len(some)), int(one.carriers[c])))
            for (one, c), some in zip(cases, people, strict=True)
        ]
        for world in product(*choices):
            classes = [
                view.index[one.signature[some[k]]]
                for (one, _), some, chosen in zip(cases, people, world, strict=True)
                for k in chosen
            ]
            if np.array_equal(np.bincount(classes, minlength=len(wanted)), wanted):
                always.append({(n, k) for n, chosen in enumerate(world) for k in chosen})
        sure = set.intersection(*always) if always else set()
        for n, ((one, _), some) in enumerate(zip(cases, people, strict=True)):
            marks = found[0] if one is scene.lineup else found[1]
            for i in set(some):
                mine = [(n, k) for k, who in enumerate(some) if who == i]
                assert marks[i] == all(person in sure for person in mine)


@pytest.mark.parametrize("seed", range(10))
def test_without_the_release_the_first_are_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rank, people = rng.integers(3, size=8).astype(float), rng.integers(1, 5, 8)
    carrying = rng.integers(0, people + 1)
    count, hits = int(rng.integers(1, people.sum())), 0.0
    left = count
    for level in (2.0, 1.0, 0.0):
        equals = rank == level
        total = people[equals].sum()
        taken = min(left, total)
        hits += carrying[equals].sum() * taken / total if total else 0.0
        left -= taken
    assert Ranked(rank, people, carrying).right(count) == pytest.approx(hits)


class Nobody:
    name = "nobody"
    reasoning = "cannot"

    def attack(self, scene: Scene) -> list[Guesses]:
        raise NotApplicableError("It never does.")


class Anybody:
    name = "anybody"
    reasoning = "names anybody"

    def attack(self, scene: Scene) -> list[Guesses]:
        return [Guesses(scene.lineup, np.zeros(len(scene.lineup.signature)))]


def test_an_attacker_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.attacks.registry._ATTACKERS.added", {})
    register(Anybody())
    assert attacker_names()[-1] == "anybody"
    table = made_up(0, rows=600, carriers=0.25)
    scene = Scene(table, deal(table, 0), Knowledge.of(table))
    steps = list[str]()
    found = run(
        scene,
        as_attackers(["anybody", Nobody()]),
        progress=lambda step, done, total: steps.append(f"{step} {done}/{total}"),
    )
    low, high = found["anybody"].everybody.interval
    assert low <= 1 / 5 <= high
    assert found["anybody"].baseline == pytest.approx(table.event_rows[0] / table.rows)
    assert [vars(one) for one in found.not_run] == [
        {"attacker": "nobody", "reason": "It never does."}
    ]
    assert steps == ["attacking: anybody 0/2", "attacking: nobody 1/2"]
    assert "anybody" in repr(found)
    again = run(scene, as_attackers(["anybody"]))
    assert again["anybody"].everybody == found["anybody"].everybody


@pytest.mark.parametrize(
    ("given", "code"), [(Anybody, "attacker-class"), (Likeliest(), "attacker-taken")]
)
def test_what_cannot_be_registered(given: object, code: str) -> None:
    with pytest.raises(InputError) as refused:
        register(given)  # type: ignore[arg-type]
    assert refused.value.code == code


@pytest.mark.parametrize("given", [["likelyest"], []])
def test_attackers_who_are_not_there(given: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        as_attackers(given)
    assert refused.value.code == "attacker"


@pytest.mark.parametrize("seed", range(4))
def test_what_all_counts_say_meets_every_count(seed: int) -> None:
    """Of every group, and of every class of every view."""
    table = made_up(seed, rows=200)
    scene = Scene(table, some_groups(table, seed), Knowledge.of(table))
    inside, gone = believed(scene.lineup, scene.missing, scene.counted_views)
    for one, chance in ((scene.lineup, inside), (scene.missing, gone)):
        for case in range(one.questions):
            mine = np.array(suspects_of(one, case))
            assert one.people[mine] @ chance[mine] == pytest.approx(one.carriers[case], abs=0.05)
    for view in scene.knowledge.views:
        for event in range(len(table.events)):
            expected = np.zeros(len(view.distributions))
            for one, chance in ((scene.lineup, inside), (scene.missing, gone)):
                mine = one.event[one.question] == event
                at = view.index[one.signature[mine]]
                np.add.at(expected, at, one.people[mine] * chance[mine])
            held = np.bincount(view.index, scene.carriers[:, event], len(expected))
            assert expected == pytest.approx(held, abs=0.05)


def test_what_comes_from_outside_was_counted_by_nobody() -> None:
    table = made_up(0)
    known = Knowledge.of(table)
    outside = Knowledge(tuple(replace(view, people=None) for view in known.views), "a file")
    scene = Scene(table, some_groups(table, 0), outside)
    found = run(scene, as_attackers(["counter-odds", "counter-all", "counter-class"]))
    assert [one.attacker for one in found.not_run] == ["counter-odds", "counter-all"]
    best = np.max([event_chances(view, table)[view.index] for view in known.views], axis=0)
    assert (scene.by_counts >= best).all()
