"""Everybody's chance by all counts together, against lists of all worlds."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from shoal.data.datasets import hospital
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.knowledge import Knowledge
from shoal.knowledge import entropy as module
from shoal.knowledge.entropy import Groups, Strata, all_counts, event_cases, fit_groups
from shoal.knowledge.kernels import entropy as kernels
from tests.oracle.entropy import by_all_counts, by_entropy, possible_worlds

RIDGE = 1e-8


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit that meets counts as closely as it can."""
    monkeypatch.setattr(module, "RIDGE", RIDGE)
    monkeypatch.setattr(module, "NEAR", 1e-10)


def small_table(random: np.random.Generator, rows: int, events: int = 1) -> Table:
    """People of two or three attributes with few values, who are known from two of a kind on."""
    qi = [f"q{k}" for k in range(int(random.integers(2, 4)))]
    frame = pl.DataFrame({name: random.integers(0, 3, rows).astype(str) for name in qi})
    values = random.choice(["a", "b", "x", "y"][: 2 + events], rows).astype(object)
    values[0], values[1] = "x", "a"
    if events == 2:
        values[2] = "y"
    protect = ("x", "y")[:events]
    spec = Spec(qi=tuple(qi), sensitive="s", protect=protect, r=2, min_support=2)  # type: ignore[arg-type]
    return Table.from_frame(frame.with_columns(pl.Series("s", values.tolist())), spec)


def as_groups(
    table: Table, group: NDArray[np.int64], event: int
) -> tuple[Groups, NDArray[np.int64], list[list[int]], list[int]]:
    """Rows in groups (-1: missing) as lines; how many are missing; and lists of rows with their
    cases."""
    carry = table.holds(event)[table.row_value]
    key = group * len(table.signatures) + table.row_signature
    inside = group >= 0
    lines, people = np.unique(key[inside], return_counts=True)
    number = int(group.max()) + 1
    cases = np.bincount(group[inside], carry[inside], number).astype(np.int64)
    groups = Groups(
        np.searchsorted(lines // len(table.signatures), np.arange(number + 1)),
        (lines % len(table.signatures)).astype(np.int32),
        people,
        np.ones(number, np.int64),
        cases,
    )
    missing = np.bincount(table.row_signature[~inside], minlength=len(table.signatures))
    rows = [np.flatnonzero(group == one).tolist() for one in range(number)]
    told = cases.tolist()
    if (~inside).any():
        rows.append(np.flatnonzero(~inside).tolist())
        told.append(int(carry[~inside].sum()))
    return groups, missing, rows, told


def strata_of(table: Table, event: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """strata x people, and the cases of each."""
    rows = []
    for view in Knowledge.of(table).views:
        index = view.index[table.row_signature]
        rows += [index == one for one in range(len(view.distributions))]
    strata = np.array(rows)
    return strata, strata @ table.holds(event)[table.row_value].astype(np.float64)


def of_rows(
    table: Table,
    groups: Groups,
    group: NDArray[np.int64],
    posterior: NDArray[np.float64],
    missing: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Each row's posterior."""
    told = np.zeros(table.rows)
    for row, (number, signature) in enumerate(zip(group, table.row_signature, strict=True)):
        if number < 0:
            told[row] = missing[signature]
        else:
            lines = slice(groups.start[number], groups.start[number + 1])
            (place,) = np.flatnonzero(groups.signature[lines] == signature)
            told[row] = posterior[lines][place]
    return told


@pytest.mark.parametrize("seed", range(40))
def test_groups_agree_with_all_worlds(seed: int, strict: None) -> None:
    random = np.random.default_rng(seed)
    table = small_table(random, int(random.integers(5, 13)))
    group = random.integers(-1 if seed % 2 else 0, 3, table.rows)
    group = np.where(group >= 0, np.searchsorted(np.unique(group[group >= 0]), group), -1)
    groups, missing, rows, cases = as_groups(table, group, 0)
    known = event_cases(table, 0)
    found = fit_groups(Strata.of(table, Knowledge.of(table)), known, groups, missing)
    told = of_rows(table, groups, group, found.posterior, found.missing)
    worlds = possible_worlds(rows, cases, table.rows)
    slow = by_entropy(worlds, *strata_of(table, 0), RIDGE)
    assert np.abs(told - slow).max() < 2e-6
    assert found.residual < 1e-5


@pytest.mark.parametrize("seed", range(10))
def test_before_publication_everybody_is_in_one_group(seed: int, strict: None) -> None:
    random = np.random.default_rng(100 + seed)
    table = small_table(random, int(random.integers(6, 13)), events=2)
    found = all_counts(table, Knowledge.of(table))
    for event in range(2):
        worlds = possible_worlds([range(table.rows)], [int(table.event_rows[event])], table.rows)
        slow = by_entropy(worlds, *strata_of(table, event), RIDGE)
        assert np.abs(found.chance[table.row_signature, event] - slow).max() < 2e-6
        assert found.residual[event] < 1e-5
        assert found.chance[table.row_signature, event].sum() == pytest.approx(
            table.event_rows[event]
        )


def test_where_nothing_was_counted_an_event_is_as_likely_as_it_is_common() -> None:
    table = small_table(np.random.default_rng(7), 12, events=2)
    model = np.tile(table.value_rows / table.rows, (len(table.signatures), 1))
    found = all_counts(table, Knowledge.model(table, "a model", model))
    common = np.tile(table.event_rows / table.rows, (table.rows, 1))
    assert (found.chance[table.row_signature] == common).all()
    assert not found.residual.any()


def test_the_estimate_is_not_the_share_of_worlds_that_meet_all_counts(strict: None) -> None:
    """Both are told apart: the estimate meets counts in expectation, and differs."""
    differences = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        table = small_table(random, 10)
        group = np.arange(10) % 2
        groups, missing, rows, cases = as_groups(table, group, 0)
        strata = Strata.of(table, Knowledge.of(table))
        found = fit_groups(strata, event_cases(table, 0), groups, missing)
        told = of_rows(table, groups, group, found.posterior, found.missing)
        exact = by_all_counts(possible_worlds(rows, cases, 10), *strata_of(table, 0))
        differences.append(np.abs(told - exact))
    assert 0.0 < np.mean(differences) < 0.02
    assert 0.05 < np.max(differences) < 0.25


def test_copies_are_groups_of_their_own(strict: None) -> None:
    random = np.random.default_rng(3)
    table = small_table(random, 200)
    strata, known = Strata.of(table, Knowledge.of(table)), event_cases(table, 0)
    group = np.full(table.rows, -1)
    group[:4] = 0
    one, missing, _, _ = as_groups(table, group, 0)
    twice = Groups(
        np.append(one.start, one.start[-1] + np.diff(one.start)),
        np.tile(one.signature, 2),
        np.tile(one.people, 2),
        np.ones(2, np.int64),
        np.tile(one.cases, 2),
    )
    missing -= np.bincount(one.signature, one.people, len(missing)).astype(np.int64)
    if missing.min() < 0:
        missing = np.maximum(missing, 0)
    copied = fit_groups(strata, known, one._replace(copies=np.array([2])), missing)
    apart = fit_groups(strata, known, twice, missing)
    assert np.abs(np.tile(copied.posterior, 2) - apart.posterior).max() < 1e-7
    assert np.abs(copied.missing - apart.missing).max() < 1e-7


def test_strata_without_a_case_and_of_nothing_but_cases_are_settled() -> None:
    frame = pl.DataFrame(
        {
            "q": ["a"] * 4 + ["b"] * 4 + ["c"] * 4,
            "s": ["x"] * 4 + ["y"] * 4 + ["x", "y", "y", "y"],
        }
    )
    spec = Spec(qi=("q",), sensitive="s", protect=("x",), r=2, min_support=2)  # type: ignore[arg-type]
    table = Table.from_frame(frame, spec)
    found = all_counts(table, Knowledge.of(table))
    assert found.chance[:, 0].tolist() == [1.0, 0.0, 0.25]
    assert found.residual[0] == 0.0


def test_contradictory_groups_are_told_by_the_residual() -> None:
    """A group with a case of a stratum that has none: no world explains it."""
    frame = pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4, "s": ["x"] * 2 + ["y"] * 6})
    spec = Spec(qi=("q",), sensitive="s", protect=("x",), r=2, min_support=2)  # type: ignore[arg-type]
    table = Table.from_frame(frame, spec)
    groups = Groups(
        np.array([0, 1]),
        np.array([1], np.int32),
        np.array([2]),
        np.array([1]),
        np.array([1]),
    )
    strata, known = Strata.of(table, Knowledge.of(table)), event_cases(table, 0)
    found = fit_groups(strata, known, groups, np.array([4, 2]))
    assert found.residual >= 1.0


@pytest.mark.parametrize(("people", "cases"), [(3000, 300), (900, 450), (20_000, 260)])
def test_the_saddle_point_of_large_groups_is_near(people: int, cases: int) -> None:
    random = np.random.default_rng(people)
    lines = 50
    number = np.full(lines, people // lines)
    score = random.normal(0, 2, lines)
    groups = (np.array([0, lines]), np.arange(lines, dtype=np.int32), number)
    told = []
    for exact in (True, False):
        posterior, weight, total = np.zeros(lines), np.zeros(lines), np.zeros(1)
        one = np.ones(1, np.int64), np.array([cases])
        value = kernels.posteriors(
            score, *groups, *one, np.array([exact]), posterior, weight, total
        )
        told.append((value, posterior))
    assert np.abs(told[1][1] / told[0][1] - 1).max() < 1e-4
    assert abs(told[1][0] - told[0][0]) < 0.01
    assert told[0][1] @ number == pytest.approx(cases)
    assert told[1][1] @ number == pytest.approx(cases)


def test_a_real_size_meets_its_counts() -> None:
    spec = Spec(
        qi=("age", "sex", "region", "occupation"),
        sensitive="diagnosis",
        protect=("HIV",),  # type: ignore[arg-type]
        r=5,
    )
    table = Table.from_frame(hospital(20_000, seed=1), spec)
    knowledge = Knowledge.of(table)
    found = all_counts(table, knowledge)
    assert found is all_counts(table, knowledge)
    assert found.residual[0] < 0.05
    expected = table.signature_rows * found.chance[:, 0]
    for view in knowledge.views:
        size = len(view.distributions)
        cases = np.bincount(view.index, event_cases(table, 0), size)
        assert np.abs(np.bincount(view.index, expected, size) - cases).max() < 0.05


def test_every_count_is_met_but_for_a_part_of_its_leeway() -> None:
    """Small counts as closely as ever, large ones as closely as a draw of them would vary."""
    spec = Spec(
        qi=("age", "sex", "region"),
        sensitive="diagnosis",
        protect=("Influenza", "HIV"),  # type: ignore[arg-type]
        r=1.5,
    )
    table = Table.from_frame(hospital(40_000, seed=2), spec)
    knowledge = Knowledge.of(table)
    found = all_counts(table, knowledge)
    for event in range(2):
        expected, cases = table.signature_rows * found.chance[:, event], event_cases(table, event)
        worst, off = 0.0, 0.0
        for view in knowledge.views:
            for one in range(len(view.distributions)):
                known = cases[view.index == one].sum()
                miss = abs(expected[view.index == one].sum() - known)
                worst, off = max(worst, miss), max(off, miss / max(1.0, known**0.5 / 2))
        assert found.residual[event] == pytest.approx(worst, abs=1e-6)
        assert found.off[event] == pytest.approx(off, abs=1e-6)
        assert found.off[event] < 0.05


@pytest.mark.parametrize("seed", range(10))
def test_classes_of_the_same_people_are_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = small_table(random, 30)
    strata = Strata.of(table, Knowledge.of(table))
    there = np.flatnonzero(random.random(len(table.signatures)) < 0.6).astype(np.int32)
    left = strata.cases(event_cases(table, 0))
    classes, member, known = module._Classes.of(strata, there, left)
    slow: dict[frozenset[int], list[float]] = {}
    for view, count in zip(strata.views, left, strict=True):
        for one in range(1, len(count)):
            people = frozenset(np.flatnonzero(view.index[there] == one).tolist())
            if people:
                slow.setdefault(people, []).append(count[one])
    fast: dict[frozenset[int], float] = {}
    owner = np.repeat(np.arange(len(there)), np.diff(member.start))
    for one in range(len(known)):
        fast[frozenset(owner[member.stratum == one].tolist())] = known[one]
    assert len(fast) == len(known)
    assert fast == {people: pytest.approx(np.mean(counts)) for people, counts in slow.items()}
    for place, (view, count) in enumerate(zip(strata.views, left, strict=True)):
        held = np.unique(view.index[there])
        assert (classes.view == place).sum() == (held > 0).sum()
        told = classes.rest[place]
        assert told == count[0] if 0 in held else np.isnan(told)


def test_who_is_in_no_class_is_met_too() -> None:
    """Misses of a view's classes that add up are one large miss of the rest."""
    each = np.arange(8)
    classes = module._Classes(np.zeros(8, np.int64), 1 + each, each, each, np.array([4.0]), 9)
    slope, known = np.full(8, 0.01), np.ones(8)
    assert classes.off(slope, known) == pytest.approx(0.08)
    assert classes._replace(rest=np.array([np.nan])).off(slope, known) == pytest.approx(0.01)
    assert classes._replace(rest=np.array([400.0])).off(slope, known) == pytest.approx(0.01)


def test_what_is_kept_dies_with_the_table() -> None:
    table = small_table(np.random.default_rng(1), 30)
    knowledge, gone = Knowledge.of(table), weakref.ref(table)
    all_counts(table, knowledge)
    del table
    gc.collect()
    assert gone() is None
