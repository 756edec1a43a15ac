"""ART on several sensitive columns: groups of one signature, masks, and what becomes of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.auditing.audit import audit
from shoal.data.datasets import ILLNESSES, ILLNESSES_QI, illnesses
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.methods.art import Art, attempts
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.certain import _certain, unsettle
from shoal.methods.art.dealing import deal_values
from shoal.methods.art.kernels.alike import choose_alike

Ints = np.ndarray


def survey(rows: int, columns: int, r: float, **more: object) -> tuple[pl.DataFrame, Spec]:
    names = list(ILLNESSES)[:columns]
    spec = Spec(
        qi=ILLNESSES_QI, sensitive=names, protect=[f"{name}=Yes" for name in names], r=r, **more
    )  # type: ignore[arg-type]
    return illnesses(rows, seed=1), spec


def fits(chosen: list[int], carries: Ints, strength: Ints) -> bool:
    size = sum(chosen)
    return all(
        sum(n for n, row in zip(chosen, carries, strict=True) if row[e]) * strength[e]
        <= size + 1e-9
        for e in range(carries.shape[1])
    )


@pytest.mark.parametrize("seed", range(200))
def test_people_of_one_signature_hide_as_many_as_their_shares_allow(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells, events = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    carries = rng.random((cells, events)) < 0.5
    carries[0] = False
    free = rng.integers(0, 8, cells)
    strength = rng.choice([1.5, 2.0, 3.0, 5.0], events)
    chosen = np.zeros(cells, np.int64)
    choose_alike(
        np.array([0, cells]), free, np.arange(cells), carries, strength[None, :], 1, chosen
    )
    assert (chosen >= 0).all()
    assert (chosen <= free).all()
    assert fits(chosen.tolist(), carries, strength)
    # Nobody without an event is there for nothing.
    fillers = [c for c in range(cells) if chosen[c] and not carries[c].any()]
    for filler in fillers:
        fewer = chosen.copy()
        fewer[filler] -= 1
        assert not fits(fewer.tolist(), carries, strength) or fewer.sum() == 0
    everybody = free.tolist()
    if fits(everybody, carries, strength):  # then no carrier is left out
        assert all(chosen[c] == free[c] for c in range(cells) if carries[c].any())


def test_dealing_keeps_everybody_and_what_they_hold() -> None:
    frame, spec = survey(600, 3, 2)
    table = Table.from_frame(frame, spec)
    assert table.several is not None
    masks = table.several.masks
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, table.rows)
    alone = np.flatnonzero(masks.value_event[masks.row_value] < 0)[:150]
    groups[alone] = 40 + np.arange(len(alone))
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    before = Grouping.of_rows(masks, groups)
    after = deal_values(table, before, rng)
    assert after.count == before.count
    assert after.published == table.rows
    cells = np.zeros((len(table.signatures), len(table.values)), np.int64)
    np.add.at(cells, (after.signature, after.value), after.people)
    signature, value, rows = table.cells
    assert (cells[signature, value] == rows).all()

    def content(grouping: Grouping, value: Ints) -> list[tuple[tuple[int, ...], ...]]:
        lines: dict[int, list[tuple[int, ...]]] = {}
        for g, s, v, n in zip(
            grouping.group, grouping.signature, value, grouping.rows, strict=True
        ):
            lines.setdefault(int(g), []).extend([(int(s), int(v))] * int(n))
        groups = []
        for g, members in lines.items():
            groups += [tuple(sorted(members))] * int(grouping.copies[g])
        return sorted(groups)

    assert content(after, table.several.mask[after.value]) == content(before, before.value)


@pytest.mark.parametrize("limit", ["absolute", "prior"])
@pytest.mark.parametrize(("columns", "r"), [(2, 3), (2, 5), (5, 5), (11, 3)])
def test_illnesses_are_robust_for_every_reader(columns: int, r: float, limit: str) -> None:
    frame, spec = survey(8_000, columns, r, limit=limit)
    release = shoal.anonymize(frame, spec, seed=0)
    assert release.audit is not None
    assert all(one.robust for one in release.audit.by_adversary.values())
    assert release.audit.absence.kept
    # With several columns nobody is added for whoever counts group by group: a few are certain.
    assert release.audit.certain <= 0.01 * release.audit.carriers
    assert release.robust is (release.audit.counter.kept and release.audit.certain == 0)
    assert set(release.audit.by_adversary) == {"joint", "binary", "together"}  # type: ignore[union-attr]
    lost = release.certificate["rows"]["suppressed_with_event"]
    assert lost <= 0.05 * (frame.height - release.certificate["rows"]["suppressed"])


def test_the_same_seed_gives_the_same_groups() -> None:
    frame, spec = survey(3_000, 3, 3)
    first, second = (shoal.anonymize(frame, spec, seed=5) for _ in range(2))
    assert first.sensitive.equals(second.sensitive)
    assert first.qi.equals(second.qi)


def test_nobody_is_in_a_smaller_group_than_asked_for() -> None:
    frame, spec = survey(4_000, 2, 3)
    release = shoal.anonymize(frame, spec, seed=0, smallest_group=8)
    assert release.robust
    assert release.certificate["groups"]["smallest"] >= 8


def test_values_of_one_person_stay_together() -> None:
    frame, spec = survey(4_000, 3, 3)
    release = shoal.anonymize(frame, spec, seed=0)
    names = list(spec.sensitive_columns)
    shown = release.sensitive.filter(
        ~pl.any_horizontal(pl.col(name) == "(other)" for name in names)
    )
    hidden = release.sensitive.height - shown.height
    assert hidden < release.sensitive.height / 10
    truth = frame.group_by(names).len()
    told = shown.group_by(names).agg(pl.col("count").sum())
    joined = told.with_columns(pl.col(names).cast(pl.String)).join(truth, on=names, how="left")
    assert (joined["count"] <= joined["len"]).all()
    both = {names[0]: "Yes", names[1]: "Yes"}
    true = frame.filter((pl.col(names[0]) == "Yes") & (pl.col(names[1]) == "Yes")).height
    assert release.count(both) == pytest.approx(true)


def test_every_other_method_says_that_it_knows_one_column() -> None:
    frame, spec = survey(1_000, 2, 2)
    with pytest.raises(InputError) as raised:
        shoal.anonymize(frame, spec, method="anatomy")
    assert str(raised.value) == (
        "The method anatomy knows one sensitive column, and there are 2. Use the method art, or a "
        "spec with one of them."
    )
    with pytest.raises(InputError) as raised:
        Art(condition="bound").anonymize(Table.from_frame(frame, spec))
    assert str(raised.value) == (
        "The paper's own variant knows one sensitive column. Use "
        'condition="joint", or one sensitive column.'
    )


def test_companions_of_a_carrier_are_not_shown_where_people_differ() -> None:
    # Whoever sees a value that only women have beside an event would know who of a group it is.
    frame, spec = survey(4_000, 3, 3, min_support=20)
    table = Table.from_frame(frame, spec)
    grouping = Art(max_suppression=1.0).anonymize(table, seed=0)
    assert grouping.pooled is not None
    holds = grouping.holding(table)
    kinds = np.zeros(len(grouping.copies), np.int64)
    pairs = np.unique(np.stack([grouping.group, grouping.signature]), axis=1)
    np.add.at(kinds, pairs[0], 1)
    assert grouping.pooled[holds & (kinds > 1)].all()


@pytest.mark.parametrize(("columns", "seed"), [(3, 1), (3, 2), (5, 1)])
def test_nobody_is_certain_where_classes_are_counted_group_by_group(
    columns: int, seed: int
) -> None:
    """One person in three surveys was the only one of a class in a group with the event, where all
    groups had room for no more cases of the class than it has."""
    frame, spec = survey(20_000, columns, 3)
    table = Table.from_frame(frame, spec.with_(qi=ILLNESSES_QI[:4]))
    found = audit(table, Art().anonymize(table, seed=seed))
    assert found.certain == 0
    assert found.robust


def slow_certain(groups: Assembly, asked: Asked) -> set[tuple[int, int, int]]:
    """Group by group and class by class, from the definition."""
    cells, found = groups.cells, set[tuple[int, int, int]]()
    made, missing = [groups.members(one) for one in range(len(groups))], groups.missing_people()
    for promise in asked.promises:
        holds = promise.holds[cells.value]
        lost = int(cells.free[holds].sum())
        for number, view in enumerate(asked.knowledge.class_views):
            of = view.index[cells.signature]
            for one in set(of.tolist()) - {0}:
                cases = int(cells.rows[holds & (of == one)].sum())
                inside = [(int((of[m] == one).sum()), int(holds[m].sum())) for m in made]
                room = sum(min(n, c) for n, c in inside)
                room += min(int(missing[view.index == one].sum()), lost)
                if room == cases < cells.rows[of == one].sum():
                    full = [g for g, (n, c) in enumerate(inside) if 0 < n <= c]
                    found |= {(group, number, one) for group in full}
    return found


def test_who_is_certain_equals_the_slow_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def watched(groups: Assembly, asked: Asked, random: np.random.Generator) -> None:
        slow = slow_certain(groups, asked)
        assert set(_certain(groups, asked)) == slow
        seen.append(len(slow))
        unsettle(groups, asked, random)
        assert len(slow_certain(groups, asked)) < len(slow) or not slow

    monkeypatch.setattr(attempts, "unsettle", watched)
    frame, spec = survey(4_000, 3, 2)
    table = Table.from_frame(frame, spec.with_(qi=ILLNESSES_QI[:4]))
    Art(smallest_group=1).anonymize(table, seed=1)
    assert seen[0] > 0
