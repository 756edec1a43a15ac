"""A release that follows others is charged with what it adds, against lists of all worlds and by
an obvious count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from shoal.auditing.adversaries import all_views
from shoal.auditing.audit import audit
from shoal.data.table import Table
from shoal.knowledge import Knowledge
from shoal.knowledge import entropy as fitting
from shoal.knowledge.entropy import SURE, most_believed
from tests.auditing.test_all_views import by_worlds
from tests.knowledge.test_entropy import RIDGE, small_table


def chained(seed: int) -> tuple[Table, np.ndarray, np.ndarray, float]:
    """A table of people in groups, and which of these were told before."""
    random = np.random.default_rng(seed)
    table = small_table(random, int(random.integers(9, 13)), events=1)
    table = replace(table, spec=table.spec.with_(min_support=int(random.integers(2, 7))))
    group = np.unique(random.integers(0, 4, table.rows), return_inverse=True)[1]
    told = np.append(random.random(group.max()) < 0.6, False)  # somebody is new
    return table, group, told, float(random.choice([1.5, 3.0, 12.0, 12.0, 12.0]))


def test_all_counts_are_held_against_what_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "RIDGE", RIDGE)
    monkeypatch.setattr(fitting, "NEAR", 1e-10)
    spared = charged = 0
    for seed in range(300):
        table, group, told, r = chained(seed)
        if not told.any():
            continue
        found = audit(table, group, adversary="all-views", r=r, told=told)
        carrying = np.isin(group, group[table.holds(0)[table.row_value]])
        before, after = by_worlds(table, group, 0)
        # Newcomers are one more group to whoever has the earlier releases alone.
        was = by_worlds(table, np.where(told[group], group, -1), 0)[1]
        most = most_believed(np.maximum(1 / r, before))
        may = np.minimum(most_believed(was), SURE)  # nobody may be certain
        known = (was > most) & (after <= may * (1 + all_views.ROUNDING))
        above = carrying & (after > most * (1 + all_views.ROUNDING))
        if min(np.abs(one - most)[carrying].min() for one in (was, after)) < 1e-4:
            continue
        whole = found.by_adversary["all-views"]
        assert whole.problematic == int((above & ~known).sum())
        assert whole.excepted == int((above & known).sum())
        (check,) = [one for one in found.checks if one.name == "all-views"]
        assert check.people == (whole.problematic or whole.excepted), "a kept check says whom"
        spared, charged = spared + (above & known).any(), charged + (above & ~known).any()
    assert spared > 3
    assert charged > 1


def test_a_class_lacks_nobody_who_was_told_of_before() -> None:
    more = fewer = 0
    for seed in range(200):
        table, group, told, r = chained(seed)
        knowledge = Knowledge.of(table)
        found = audit(table, group, adversary="binary", knowledge=knowledge, r=r, told=told)
        carry = table.holds(0)[table.row_value]
        inside = np.isin(group, group[carry])
        if (carry & ~told[group]).any():
            before = inside | ~told[group]
        else:  # whoever has the earlier releases knows that newcomers carry nothing
            before = inside & told[group]
        fails, excepted = [], [0]
        for view in knowledge.class_views:
            excepted.append(0)
            for one in range(1, len(view.distributions)):
                mine = view.index[table.row_signature] == one
                cases, among = int(carry[mine].sum()), int(inside[mine].sum())
                left = int(before[mine].sum())
                if 0 < among < min(r * cases, left):
                    fails.append((view.attributes, int(mine.sum()), cases, among))
                elif 0 < among < min(r * cases, int(mine.sum())):
                    excepted[-1] += cases
                more += among == left < min(r * cases, int(mine.sum()))
        named = [(one.view, one.people, one.carriers, one.among) for one in found.counter.classes]
        assert sorted(named) == sorted(fails)
        assert found.counter.excepted == max(excepted)
        fewer += bool(fails)
    assert min(more, fewer) > 3, "both occur"


def worlds(carry: np.ndarray, group: np.ndarray) -> Iterator[np.ndarray]:
    """All ways to say who carries, in which every group, and the missing, have as many."""
    places = [np.flatnonzero(group == one) for one in np.unique(group)]
    for chosen in product(*(combinations(one, int(carry[one].sum())) for one in places)):
        yield np.isin(np.arange(len(group)), np.concatenate([*map(np.array, chosen), []]))


def certain(
    carry: np.ndarray, group: np.ndarray, strata: list[np.ndarray], whom: np.ndarray
) -> np.ndarray:
    """Of everybody: whether they carry in all worlds of `whom` that agree with one of the strata,
    and not because all of it do."""
    sure, before = np.zeros((2, len(group)), bool)
    some = list(worlds(carry[whom], group[whom]))
    for stratum in strata:
        mine = stratum[whom]
        agree = [one for one in some if one[mine].sum() == carry[whom][mine].sum()]
        told = np.zeros(len(group), bool)
        told[np.flatnonzero(whom)[mine]] = np.all(agree, axis=0)[mine]
        if carry[whom][mine].all():
            before |= told
        sure |= told
    return sure & ~before


def test_newcomers_are_counted_apart_by_whoever_kept_the_counts() -> None:
    alone = both = 0
    for seed in range(300):
        table, group, told, r = chained(seed)
        missing = np.random.default_rng(seed).random(table.rows) < 0.15
        group = np.where(missing & ~told[group], -1, group)
        there = np.unique(group[group >= 0])
        group = np.where(group >= 0, np.searchsorted(there, group), -1)
        told = np.append(told[there], False)
        if not told.any() or told[:-1].all():
            continue
        knowledge, old = Knowledge.of(table), told[group]
        found = audit(table, group, adversary="binary", knowledge=knowledge, r=r, told=told)
        carry, known, now = table.holds(0)[table.row_value], [], []
        for view in knowledge.class_views:
            of = view.index[table.row_signature]
            strata = [of == one for one in range(1, len(view.distributions))]
            known += strata
            now += [one for one in strata if (one & old).sum() >= table.spec.min_support]
        whole = certain(carry, group, known, np.ones(table.rows, bool))
        apart = certain(carry, group, now, ~old)
        if any(carry[group == one].all() for one in np.unique(group)):
            continue  # who is in a group of nothing else is certain without any count
        assert found.certain == int((whole | apart).sum())
        (check,) = [one for one in found.checks if one.name == "certainty"]
        assert check.state == "broken" or not (whole | apart).any()
        both, alone = both + whole.any(), alone + (apart & ~whole).any()
    assert min(both, alone) > 3, "both occur"
