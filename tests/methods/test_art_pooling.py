"""Pooled groups: who of a kind goes into which, beside a slow twin; and when values are pooled."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.methods.art import Art, attempts
from shoal.methods.art.asked import Asked
from shoal.methods.art.blind import Blindness
from shoal.methods.art.lookalikes import Lookalikes
from shoal.methods.art.pooling import Pooled, deal_people
from shoal.methods.art.seeds import spread
from tests.methods.test_art_around import hidden
from tests.methods.test_art_blind import LIMITS, hospital_table, random_table

Behind = tuple[np.ndarray, np.ndarray, np.ndarray]


def case(seed: int) -> tuple[dict[tuple[int, int], int], np.ndarray, Behind]:
    """People wanted by group and kind, copies of groups, and who is behind kinds: enough."""
    rng = np.random.default_rng(seed)
    groups, kinds = int(rng.integers(1, 8)), int(rng.integers(1, 6))
    copies = rng.integers(1, 6, groups)
    lines = {
        (g, k): int(rng.integers(1, 5))
        for g in range(groups)
        for k in range(kinds)
        if k == g % kinds or rng.random() < 0.5
    }
    kind, cell, free = [], [], []
    for k in range(kinds):
        needed = sum(n * int(copies[g]) for (g, mine), n in lines.items() if mine == k)
        values = int(rng.integers(1, 5))
        parts = rng.multinomial(needed + int(rng.integers(0, 4)), np.full(values, 1 / values))
        for v, number in enumerate(parts):
            kind.append(k)
            cell.append(100 * k + v)
            free.append(int(number))
    return lines, copies, (np.array(kind), np.array(cell), np.array(free))


def dealt(seed: int) -> tuple[Pooled, dict[tuple[int, int], int], np.ndarray, Behind]:
    lines, copies, behind = case(seed)
    owner, kind = np.array(list(lines)).T
    number = np.array(list(lines.values()))
    made = deal_people(owner, kind, number, copies, behind, np.random.default_rng(seed))
    return made, lines, copies, behind


@pytest.mark.parametrize("seed", range(60))
def test_people_are_dealt_as_one_by_one(seed: int) -> None:
    """Kind after kind all who are taken stand in line, and every copy takes the next ones."""
    made, lines, copies, behind = dealt(seed)
    kinds = int(behind[0].max()) + 1
    needed = np.zeros(kinds, np.int64)
    for (g, k), n in lines.items():
        needed[k] += n * copies[g]
    taken = spread(behind[0], behind[2], needed, np.random.default_rng(seed))
    expected = {(g, c): Counter[int]() for g in range(len(copies)) for c in range(copies[g])}
    for k in range(kinds):
        mine = behind[0] == k
        line = np.repeat(behind[1][mine], taken[mine]).tolist()
        for g in sorted(g for g, kind in lines if kind == k):
            for c in range(copies[g]):
                for _ in range(lines[g, k]):
                    expected[g, c][line.pop(0)] += 1
        assert not line
    found = dict[tuple[int, int], Counter[int]]()
    after = Counter[int]()
    for piece, (source, number) in enumerate(zip(made.source, made.copies, strict=True)):
        some = made.group == piece
        pairs = zip(made.cell[some].tolist(), made.number[some].tolist(), strict=True)
        members = Counter(dict(pairs))
        for _ in range(number):
            found[int(source), after[int(source)]] = members
            after[int(source)] += 1
    assert found == expected
    assert (np.diff(made.group) >= 0).all()


def test_groups_that_are_alike_stay_so() -> None:
    """A million copies of a group of people of two values: two groups, and one in between."""
    many = 1_000_000
    behind = np.array([0, 0]), np.array([7, 8]), np.array([2 * many, 2 * many])
    made = deal_people(
        np.array([0]),
        np.array([0]),
        np.array([3]),
        np.array([many]),
        behind,
        np.random.default_rng(1),
    )
    assert made.copies.sum() == many
    assert len(made.copies) <= 3
    assert np.bincount(made.group, made.number).tolist() == [3] * len(made.copies)


def test_everybody_of_a_kind_is_as_likely() -> None:
    behind = np.array([0, 0]), np.array([7, 8]), np.array([1, 3])
    seen = Counter[int]()
    for seed in range(4000):
        random = np.random.default_rng(seed)
        one = np.array([1])
        seen.update(deal_people(one * 0, one * 0, one, one, behind, random).cell.tolist())
    assert seen[7] / 4000 == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / 4000) ** 0.5)


@pytest.mark.parametrize("limit", LIMITS)
def test_who_finds_nobody_is_hidden_among_people_of_all_values(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seeds of one value that find nobody are neither parted nor given another value."""
    hide, turns = Lookalikes.hide, list[tuple[bool, bool]]()

    def noted(self: Lookalikes, *rest: Any, parting: bool, **more: Any) -> Any:
        turns.append((self._pooled, parting))
        return hide(self, *rest, parting=parting, **more)

    monkeypatch.setattr(Lookalikes, "hide", noted)
    pooled = 0
    for seed in range(20):
        table = random_table(seed, limit)
        turns.clear()
        pooled += hidden(table, cell=6).count("pooled")
        of_one_value = [turn for turn in turns if not turn[0]]
        carried = np.unique(table.row_value[table.row_event >= 0])
        assert len(of_one_value) <= len(carried) * (len(table.values) - len(carried))
        assert all(pooled == parting for pooled, parting in turns)
    assert pooled > 0


def test_cells_become_smaller_rather_than_pool_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever minds pooled groups more gets smaller cells, and fewer people in such groups."""
    table = hospital_table(r=12, min_support=20, limit="prior")
    attempt, tried = attempts._attempt, list[int]()

    def noted(asked: Asked, how: Blindness, *rest: Any) -> attempts.Attempt:
        tried.append(how.size(float(asked.table.event_r.max())))
        return attempt(asked, how, *rest)

    monkeypatch.setattr(attempts, "_attempt", noted)
    monkeypatch.setattr(attempts, "join_revealing", lambda *_, **__: (np.zeros(1, bool),) * 2)
    made = {}
    for most in (1.0, 0.0):
        monkeypatch.setattr(attempts, "MOST_POOLED", most)
        tried.clear()
        grouping = Art(max_suppression=1.0).anonymize(table, seed=1)
        people = grouping.sizes * grouping.copies
        made[most] = (len(tried), int(people[grouping.pooled].sum()))
    assert made[1.0][1] > 0, "nobody was pooled"
    assert made[0.0][0] > made[1.0][0]
    assert made[0.0][1] < made[1.0][1]


@pytest.mark.parametrize("limit", LIMITS)
def test_one_other_value_is_not_pooled(limit: str) -> None:
    """It would hide nothing, and tell recipients less."""
    rng = np.random.default_rng(3)
    place = rng.integers(0, 5, 400)
    sick = rng.random(400) < 0.02 + 0.02 * place
    frame = pl.DataFrame(
        {"a": place, "b": rng.integers(0, 5, 400), "s": np.where(sick, "sick", "well")}
    )
    spec = Spec(qi=("a", "b"), sensitive="s", protect=("sick",), r=5, min_support=20, limit=limit)
    grouping = Art(max_suppression=1.0).anonymize(Table.from_frame(frame, spec), seed=1)
    assert grouping.pooled is None
    assert grouping.claims["pure_groups"] > 0
