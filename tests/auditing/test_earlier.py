"""A release that follows others is charged with what it adds, against lists of all worlds and by
an obvious count."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.auditing.adversaries import all_views
from shoal.auditing.audit import audit
from shoal.data.table import Table
from shoal.knowledge import Knowledge
from shoal.knowledge import entropy as fitting
from shoal.knowledge.entropy import most_believed
from tests.auditing.test_all_views import by_worlds
from tests.knowledge.test_entropy import RIDGE, small_table


def chained(seed: int) -> tuple[Table, np.ndarray, np.ndarray, float]:
    """A table of people in groups, and which of these were told before."""
    random = np.random.default_rng(seed)
    table = small_table(random, int(random.integers(7, 12)), events=1)
    group = np.unique(random.integers(0, 4, table.rows), return_inverse=True)[1]
    told = np.append(random.random(group.max()) < 0.6, False)  # somebody is new
    return table, group, told, float(random.choice([1.5, 2.0, 3.0]))


def test_all_counts_are_held_against_what_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "RIDGE", RIDGE)
    monkeypatch.setattr(fitting, "NEAR", 1e-10)
    spared = charged = 0
    for seed in range(240):
        table, group, told, r = chained(seed)
        if not told.any():
            continue
        found = audit(table, group, adversary="all-views", r=r, told=told)
        carrying = np.isin(group, group[table.holds(0)[table.row_value]])
        before, after = by_worlds(table, group, 0)
        # Newcomers are one more group to whoever has the earlier releases alone.
        was = by_worlds(table, np.where(told[group], group, -1), 0)[1]
        most = most_believed(np.maximum(1 / r, before))
        known = (was > most) & (after <= most_believed(was) * (1 + all_views.ROUNDING))
        above = carrying & (after > most * (1 + all_views.ROUNDING))
        if min(np.abs(was - most).min(), np.abs(after - most).min()) < 1e-4:
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
