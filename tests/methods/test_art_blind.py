"""Blind groups: what they promise, how they are written down, and that carriers do not steer."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.auditing.audit import audit
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.groups import silent
from shoal.knowledge import Knowledge, as_readers
from shoal.methods.art import Art, attempts, lookalikes
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.blind import Blindness, _draw, hide_blindly
from shoal.methods.art.cells import Cells
from shoal.methods.art.kernels.cut import cut
from tests.dealing import row_groups

BOTH = ("joint", "binary")
LIMITS = ["absolute", "prior"]


def hospital_table(rows: int = 3000, **changes: Any) -> Table:
    given: dict[str, Any] = {"qi": HOSPITAL_QI[:3], "protect": (Event(HOSPITAL_EVENT),), "r": 3}
    spec = Spec(sensitive=HOSPITAL_SENSITIVE, **(given | changes))
    return Table.from_frame(hospital(rows, 4), spec)


def random_table(seed: int, limit: str) -> Table:
    """Two hundred people of up to twelve kinds; an event of two values and one of its own r."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "p": rng.choice([*"abcd"], 200),
            "q": rng.choice([*"klm"], 200),
            "v": rng.choice([*"uvwxyz"], 200, p=[0.04, 0.04, 0.06, 0.2, 0.3, 0.36]),
        }
    )
    spec = Spec(
        qi=("p", "q"),
        sensitive="v",
        protect=(Event(("u", "v")), Event(("w",), r=2)),
        r=[3, 4, 12][seed % 3],
        min_support=[1, 10, 40][seed % 3],
        limit=limit,
    )
    return Table.from_frame(frame, spec)


def assert_blind_groups_hold(table: Table, **parameters: Any) -> None:
    """Safe to both readers, everybody published once or suppressed, one filler value or a pool."""
    grouping = Art(max_suppression=1, **parameters).anonymize(table, seed=5)
    found = audit(table, grouping, adversary=BOTH)
    assert all(one.robust for one in found.by_adversary.values())
    assert (found.exact_share, found.contradictory) == (1, 0)
    kept = found.absence.kept and found.counter.kept and not found.certain
    assert found.robust is kept
    groups = row_groups(table, grouping)
    assert (groups >= 0).sum() == grouping.published
    missing = groups < 0
    carries = table.row_event >= 0
    assert (missing & carries).any() or not missing.any(), "lookalikes go with carriers only"
    pooled = np.zeros(len(grouping.copies), bool) if grouping.pooled is None else grouping.pooled
    pooled = np.repeat(pooled, grouping.copies)
    claims, kinds = grouping.claims, {"pure": 0, "pooled": 0, "mixed": 0}
    for group in np.unique(groups[(groups >= 0) & (table.row_event >= 0)]):
        held = table.row_value[groups == group]
        events, filler = held[table.value_event[held] >= 0], held[table.value_event[held] < 0]
        pure = len(set(events)) == 1 and len(set(filler)) == 1
        kinds["pooled" if pooled[group] else "pure" if pure else "mixed"] += 1
        if pooled[group]:
            assert len(set(events)) == 1
    assert kinds["pooled"] == claims["pooled_groups"]
    assert kinds["pure"] >= claims["pure_groups"]  # a mixed group may happen to be pure
    assert sum(kinds.values()) == sum(claims[f"{kind}_groups"] for kind in kinds)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("cell", [None, 3, 15])
@pytest.mark.parametrize("r", [3, 12])
def test_blind_groups_of_the_hospital(limit: str, cell: int | None, r: float) -> None:
    assert_blind_groups_hold(hospital_table(r=r, min_support=20, limit=limit), cell=cell)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("seed", range(12))
def test_blind_groups_of_random_tables(limit: str, seed: int) -> None:
    assert_blind_groups_hold(random_table(seed, limit))


def hidden(table: Table, seed: int, cell: int = 0, least: int = 1) -> Assembly:
    groups = Assembly(table, Cells.of(table))
    hide_blindly(
        groups,
        Asked(table, Knowledge.of(table), as_readers(BOTH)),
        Blindness(cell=cell, largest=200, least=least),
        random=np.random.default_rng(seed),
        progress=silent,
    )
    return groups


@pytest.mark.parametrize("seed", range(12))
def test_nobody_is_used_twice_and_all_groups_pass_the_check(seed: int) -> None:
    table = random_table(seed, LIMITS[seed % 2])
    groups = hidden(table, seed, least=7)
    cells = groups.cells
    groups.separate()
    owner, member = groups.everybody()
    used = np.bincount(member, minlength=len(cells.rows))
    assert (cells.free >= 0).all()
    assert (used + cells.free).tolist() == cells.rows.tolist()
    assert np.bincount(owner).min() >= 7
    made = len(groups)
    groups.drop_unsafe(Asked(table, Knowledge.of(table), as_readers(BOTH)))
    assert len(groups) == made > 0


def test_a_seed_changes_the_groups_and_the_same_seed_repeats_them() -> None:
    table = hospital_table(min_support=20)
    one, two, other = (row_groups(table, Art().anonymize(table, seed=s)) for s in (3, 3, 4))
    assert one.tolist() == two.tolist()
    assert one.tolist() != other.tolist()


def test_a_larger_cell_makes_larger_groups() -> None:
    table = hospital_table(min_support=20)
    sizes = []
    for cell in (3, 12, 40):
        groups = hidden(table, 1, cell=cell)
        groups.separate()
        sizes.append(np.median(np.bincount(groups.everybody()[0])))
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


@pytest.mark.parametrize("rate", [None, np.inf, attempts.RATE])
def test_who_carries_does_not_move_a_cut(
    monkeypatch: pytest.MonkeyPatch, rate: float | None
) -> None:
    """Two tables in which other people carry, to readers who know the same of both: in cells of
    everybody, in those of a sample of everybody, and, but for how many of each kind are sampled,
    in those of a matched sample."""
    seen: list[list[Any]] = []

    def recorded(*given: Any) -> Any:
        seen[-1].append([np.asarray(one).tolist() for one in given])
        return cut(*given)

    monkeypatch.setattr(lookalikes, "cut", recorded)
    monkeypatch.setattr(attempts, "RATE", rate)
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(40), 5)
    rows = rng.dirichlet([1, 20], 40)
    for turn in range(2):
        values = np.where(np.arange(200) % 20 == 5 * turn, "x", "y")
        frame = pl.DataFrame({"q": kinds.astype(str), "v": values})
        spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=3)
        table = Table.from_frame(frame, spec)
        known = Knowledge.model(table, "given", rows)
        seen.append([])
        cell = 6 if rate is None else None
        Art(knowledge=known, max_suppression=1, cell=cell).anonymize(table, seed=9)
    (place, people, *rest), (its_place, its_people, *its_rest) = seen[0][0], seen[1][0]
    assert (place, rest) == (its_place, its_rest)
    if rate is not None and rate < np.inf:
        assert sum(people) < 200, "not everybody is sampled"
    else:
        assert people == its_people


def test_values_are_drawn_by_their_chances() -> None:
    random, times = np.random.default_rng(1), np.array([20_000, 0, 1])
    chance = np.tile([0.0, 0.1, 0.4, 0.0, 0.2], (3, 1))
    tried = np.zeros((3, 5), bool)
    drawn = _draw(chance, tried, times, random)
    assert drawn.sum(axis=1).tolist() == times.tolist()
    assert drawn[0] / times[0] == pytest.approx(chance[0] / chance[0].sum(), abs=0.02)
    tried[:, 2] = True
    drawn = _draw(chance, tried, times, random)
    assert drawn[0] / times[0] == pytest.approx([0, 1 / 3, 0, 0, 2 / 3], abs=0.02)
    assert not _draw(chance, np.ones((3, 5), bool), times, random).any()
