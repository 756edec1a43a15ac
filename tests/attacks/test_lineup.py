"""The line-up and all that looks at it, against slow twins."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shoal.attacks.features import features, in_logs, in_ratios, to_all_others, without
from shoal.attacks.insider import resampled
from shoal.attacks.learning import Lesson, boosting, learners, ranks
from shoal.attacks.lineup import LARGEST, Lineup
from shoal.attacks.scene import Scene
from shoal.attacks.scoring import draw, shares
from shoal.groups import Grouping
from shoal.knowledge import Knowledge
from tests.attacks.people import SIZE, chance_in, made_up, some_groups, suspects_of
from tests.oracle.worlds import binary_posterior, joint_posterior

SEEDS = range(12)


def lineup_of(seed: int) -> Lineup:
    table = made_up(seed)
    return Lineup.of(table, some_groups(table, seed), Knowledge.of(table))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_line_up_has_every_group_that_holds_an_event_and_nobody_else(seed: int) -> None:
    lineup = lineup_of(seed)
    table, grouping = lineup.table, some_groups(lineup.table, seed)
    expected: Counter[Any] = Counter()
    for group, copies in enumerate(grouping.copies):
        lines = np.flatnonzero(grouping.group == group)
        people = [
            (int(grouping.signature[i]), int(table.value_event[grouping.value[i]]))
            for i in lines
            for _ in range(grouping.rows[i])
        ]
        for event in {event for _, event in people if event >= 0}:
            kinds = Counter(who for who, _ in people)
            carrying = Counter(who for who, carried in people if carried == event)
            known = {
                who
                for who in kinds
                for view in lineup.knowledge.views
                if chance_in(view, table, who, event) > 1 / table.event_r[event] + 1e-9
            }
            marked = [(who, kinds[who], carrying[who], who in known) for who in sorted(kinds)]
            expected[event, tuple(marked)] += int(copies)
    found: Counter[Any] = Counter()
    for case in range(lineup.questions):
        marked = [
            (
                int(lineup.signature[i]),
                int(lineup.people[i]),
                int(lineup.carrying[i]),
                bool(lineup.known[i]),
            )
            for i in suspects_of(lineup, case)
        ]
        found[int(lineup.event[case]), tuple(sorted(marked))] += 1
    assert found == expected
    assert 0 < lineup.known.sum() < len(lineup.known)
    assert lineup.people.max() > 1
    assert lineup.carriers.max() > 1
    held = [
        sum(lineup.carrying[i] for i in suspects_of(lineup, c)) for c in range(lineup.questions)
    ]
    assert held == lineup.carriers.tolist()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("guesses", [1, 2])
def test_equals_are_named_with_the_same_chance(seed: int, guesses: int) -> None:
    lineup = lineup_of(seed)
    lineup = replace(lineup, guesses=np.minimum(guesses, lineup.members))
    rng = np.random.default_rng(seed)
    score = rng.integers(3, size=len(lineup.signature)).astype(float)
    share = shares(lineup, score)
    for case in range(lineup.questions):
        mine, left = suspects_of(lineup, case), int(lineup.guesses[case])
        for level in (2.0, 1.0, 0.0):
            equals = [i for i in mine if score[i] == level]
            people = sum(int(lineup.people[i]) for i in equals)
            taken = min(left, people)
            for i in equals:
                assert share[i] == pytest.approx(lineup.people[i] * taken / people)
            left -= taken
    drawn = [draw(lineup, share, rng) for _ in range(300)]
    for named, hits in drawn[:20]:
        assert np.add.reduceat(named, lineup.start[:-1]).tolist() == lineup.guesses.tolist()
        assert (named <= lineup.people).all()
        assert (hits <= np.minimum(named, lineup.carrying)).all()
    mean = np.mean([named for named, _ in drawn], axis=0)
    assert np.abs(mean - share).max() < 0.15
    rate = np.mean([hits for _, hits in drawn], axis=0)
    assert np.abs(rate - share * lineup.carrying / lineup.people).max() < 0.15


def test_some_of_the_cases() -> None:
    lineup = lineup_of(0)
    chosen = np.array([1, 4, 5])
    some = lineup.only(chosen)
    mine = np.isin(lineup.question, chosen)
    assert some.questions == 3
    assert some.carriers.tolist() == lineup.carriers[chosen].tolist()
    assert some.odds == pytest.approx(lineup.odds[mine])
    assert some.claimed == pytest.approx(lineup.claimed[mine])


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_missing_is_a_case_of_its_own(seed: int) -> None:
    table = made_up(seed)
    scene = Scene(table, some_groups(table, seed), Knowledge.of(table))
    missing = scene.missing
    assert missing.questions > 0
    absent = table.rows - scene.grouping.published
    assert [
        sum(missing.people[i] for i in suspects_of(missing, case))
        for case in range(missing.questions)
    ] == [absent] * missing.questions
    published = Counter[Any]()
    for sig, value, people in zip(
        scene.grouping.signature, scene.grouping.value, scene.grouping.people, strict=True
    ):
        published[int(sig), int(value)] += int(people)
    for case in range(missing.questions):
        for i in suspects_of(missing, case):
            who, gone, carrying = int(missing.signature[i]), 0, 0
            for sig, value, rows in zip(*table.cells, strict=True):
                if sig == who:
                    left = int(rows) - published[who, int(value)]
                    gone += left
                    carrying += left * (table.value_event[value] == missing.event[case])
            assert (missing.people[i], missing.carrying[i]) == (gone, carrying)
    held = [
        sum(missing.carrying[i] for i in suspects_of(missing, c)) for c in range(missing.questions)
    ]
    assert missing.guesses.tolist() == missing.carriers.tolist() == held


@pytest.mark.parametrize("seed", SEEDS)
def test_the_odds_are_those_of_both_readers(seed: int) -> None:
    table = made_up(seed, rows=400, min_support=80)
    hiv, flu = (table.values.index(value) for value in ("HIV", "flu"))
    groups = np.full(table.rows, -1, np.int32)
    groups[np.flatnonzero(table.row_value == hiv)[:8]] = np.arange(8)
    groups[np.flatnonzero(table.row_value == flu)[:32]] = np.arange(32) % 8
    knowledge = Knowledge.of(table)
    lineup = Lineup.of(table, Grouping.of_rows(table, groups), knowledge)
    assert lineup.members.tolist() == [5] * 8
    for case in range(lineup.questions):
        mine = np.repeat(suspects_of(lineup, case), lineup.people[suspects_of(lineup, case)])
        for w, view in enumerate(knowledge.views):
            rows = view.index[lineup.signature[mine]]
            joint = joint_posterior(view.distributions[rows].tolist(), [hiv, flu, flu, flu, flu])
            binary = binary_posterior(view.distributions[rows, hiv].tolist(), 1)
            views = len(knowledge.views)
            for column, posterior in ((w, [row[hiv] for row in joint]), (views + w, binary)):
                odds = lineup.odds[mine, column]
                assert odds / odds.sum() == pytest.approx(posterior)
                assert lineup.posterior(lineup.odds[:, column])[mine] == pytest.approx(posterior)


@pytest.mark.parametrize("seed", SEEDS)
def test_several_carriers_are_shared_out_exactly(seed: int) -> None:
    lineup = lineup_of(seed)
    view = lineup.knowledge.views[0]
    posterior = lineup.posterior(lineup.binary(view))
    for case in np.flatnonzero(lineup.carriers > 1):
        mine = np.repeat(suspects_of(lineup, case), lineup.people[suspects_of(lineup, case)])
        expected = binary_posterior(lineup.chance_in(view)[mine].tolist(), lineup.carriers[case])
        assert posterior[mine] == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_distances_and_standings_against_slow_twins(seed: int) -> None:
    lineup = lineup_of(seed)
    odds = lineup.odds
    in_ratio, in_log = to_all_others(lineup, in_ratios), to_all_others(lineup, in_logs)
    ranked, spare = ranks(lineup, lineup.odds[:, 0]), without(lineup)
    for case in range(lineup.questions):
        mine = suspects_of(lineup, case)
        everybody = [i for i in mine for _ in range(lineup.people[i])]
        for i in mine:
            others = everybody.copy()
            others.remove(i)
            steps = [np.minimum(np.abs(odds[j] / odds[i] - 1), 1e3).mean() for j in others]
            assert in_ratio[i] == pytest.approx(sum(steps), rel=1e-4, abs=1e-5)
            steps = [np.abs(lineup.log_odds[j] - lineup.log_odds[i]).mean() for j in others]
            assert in_log[i] == pytest.approx(sum(steps), rel=1e-4, abs=1e-5)
            kinds = [j for j in mine if j != i]
            before = sum(np.sign(lineup.odds[i, 0] - lineup.odds[j, 0]) for j in kinds)
            assert ranked[i] == pytest.approx(before / max(1, len(kinds)))
            if others:
                rest = lineup.odds[others]
                asked = lineup.r[case] * rest.max(axis=0)
                usual = lineup.odds[i] < LARGEST  # next to these, others are lost to rounding
                assert spare[i, usual] == pytest.approx((rest.sum(axis=0) / asked)[usual], rel=1e-3)


def test_the_honest_limit_asks_less_of_those_who_are_known() -> None:
    lineup = lineup_of(0)
    honest = replace(lineup, limit="prior")
    assert (without(honest) >= without(lineup) * (1 - 1e-9)).all()
    assert (without(honest) > without(lineup) * 1.01).any()


def test_no_feature_tells_who_carries() -> None:
    lineup = lineup_of(0)
    carrying = np.random.default_rng(5).permutation(lineup.carrying)
    other = replace(lineup, carrying=np.minimum(carrying, lineup.people))
    assert other.carrying.tolist() != lineup.carrying.tolist()
    told = features(other)
    for name, numbers in features(lineup).items():
        assert told[name].tolist() == numbers.tolist(), name


def test_a_resampled_table_is_a_table() -> None:
    table = made_up(3)
    other = resampled(table, np.random.default_rng(0))
    signature, member, rows = other.member_cells
    assert other.rows == table.rows
    assert sorted(set(signature.tolist())) == list(range(len(other.signatures)))
    assert list(zip(signature, member, strict=True)) == sorted(zip(signature, member, strict=True))
    cells = Counter[Any]()
    for s, m, n in zip(*table.member_cells, strict=True):
        cells[(*table.signatures[s].tolist(), int(m))] += int(n)
    drawn = {
        (*other.signatures[s].tolist(), int(m)): int(n)
        for s, m, n in zip(signature, member, rows, strict=True)
    }
    assert drawn.keys() <= cells.keys()
    assert any(n != cells[cell] for cell, n in drawn.items())
    assert len(Knowledge.of(other).views[0].index) == len(other.signatures)


def test_boosting_where_it_can_be() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    design = rng.normal(size=(2_000, 3)).astype(np.float32)
    sizes = np.full(400, SIZE)
    carrying, ones = np.zeros(2_000, np.int64), np.ones(2_000, np.int64)
    carrying[np.arange(400) * SIZE + design[:, 0].reshape(400, SIZE).argmax(axis=1)] = 1
    scores = boosting(Lesson(design, sizes, ones, carrying), rng)(design).reshape(400, SIZE)
    assert "boosting" in learners()
    assert (scores.argmax(axis=1) == design[:, 0].reshape(400, SIZE).argmax(axis=1)).mean() > 0.9
