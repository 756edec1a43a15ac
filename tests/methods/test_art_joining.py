"""Groups are joined until all public counts together tell too much of nobody."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shoal.auditing.adversaries.adversary import USUAL
from shoal.auditing.adversaries.all_views import ROUNDING
from shoal.auditing.audit import audit
from shoal.data.table import Table
from shoal.knowledge.entropy import BAYES_FACTOR, KNOWN, most_believed
from shoal.methods.art import Art, attempts
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.joining import join_revealing
from tests.methods.test_art_around import asked_of, everybody_once, hidden
from tests.methods.test_art_blind import BOTH, LIMITS, hospital_table, random_table


def too_sure(table: Table, groups: Assembly) -> int:
    """By the auditor, who does not know how groups are made."""
    return audit(table, groups.grouping(), adversary="all-views").problematic


def contents(groups: Assembly) -> Counter[tuple[int, ...]]:
    groups.separate()
    return Counter(tuple(sorted(groups.members(g).tolist())) for g in range(len(groups)))


@pytest.mark.parametrize("limit", LIMITS)
def test_groups_are_joined_whole_and_stay_safe(limit: str) -> None:
    before = after = joined = 0
    for seed in range(40):
        table = random_table(seed, limit)
        groups, asked = hidden(table), asked_of(table)
        before, apart = before + too_sure(table, groups), contents(groups)
        left, doubted = join_revealing(groups, asked)
        together = contents(groups)
        found = audit(table, groups.grouping(), adversary=BOTH)
        assert found.problematic == 0
        assert everybody_once(groups)
        assert bool(left.any()) == bool(too_sure(table, groups)), "the search and the judge agree"
        assert not (left & ~doubted).any(), "less is aimed at than is promised"
        after += too_sure(table, groups)
        joined += sum(apart.values()) - sum(together.values())
        one, other = (
            sum((Counter(group) for group in every.elements()), Counter[int]())
            for every in (apart, together)
        )
        assert one == other, "nobody comes, and nobody goes"
        for group in (together - apart).elements():
            assert any(not Counter(part) - Counter(group) for part in apart), "of whole groups"
    assert joined > 0
    assert after < before


@pytest.mark.parametrize("limit", LIMITS)
def test_fewer_are_certain_to_whoever_counts(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def forced(seed: int) -> int:
        table = random_table(seed, limit)
        return audit(table, Art(max_suppression=1.0).anonymize(table, seed=seed)).certain

    with_it = sum(map(forced, range(40)))
    monkeypatch.setattr(
        attempts,
        "join_revealing",
        lambda groups, _, **__: np.zeros((2, len(groups.table.signatures)), bool),
    )
    assert with_it < sum(map(forced, range(40)))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_release_of_a_hospital_answers_all_views(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = hospital_table(rows=6000, r=2.0, min_support=10)
    found = audit(table, Art().anonymize(table, seed=seed), adversary=USUAL)
    assert found.by_adversary["all-views"].robust is True
    assert found.robust is True
    nobody = np.zeros((2, len(table.signatures)), bool)
    monkeypatch.setattr(attempts, "join_revealing", lambda *_, **__: nobody)
    without = audit(table, Art().anonymize(table, seed=seed), adversary=USUAL)
    assert [without.by_adversary[one].robust for one in USUAL] == [True, True, False]
    assert without.robust is False


def test_how_sure_anybody_may_be() -> None:
    limit = np.array([0.1, 0.2, 0.5, 0.89, 0.95, 0.9985, 0.9995])
    most = most_believed(limit)
    for one, its in zip(limit[:5], most[:5], strict=True):
        assert its / (1 - its) == pytest.approx(BAYES_FACTOR * one / (1 - one))
    assert most[5] * (1 + ROUNDING) < 1.0, "nobody becomes certain"
    assert most[6] == 1.0, f"above {KNOWN} they are known anyway"
