"""Several releases of small tables against every possible world of their people."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.auditing.releases import Shown, judge, judge_releases
from tests.oracle.releases import Told, posteriors

PROTECTED = ("a", "b")


@st.composite
def published(draw):
    size = draw(st.integers(3, 6))
    values = draw(st.lists(st.sampled_from("aabccd"), min_size=size, max_size=size))
    values[:2] = "ac"
    places = draw(st.lists(st.sampled_from("xyz"), min_size=size, max_size=size))
    releases = []
    for _ in range(draw(st.integers(1, 3))):
        groups = draw(st.lists(st.sampled_from([None, 0, 0, 1, 1]), min_size=size, max_size=size))
        if draw(st.booleans()) and releases:
            groups = list(releases[-1].groups)  # the same groups once more
        releases.append(Told(tuple(groups), frozenset(draw(st.sets(st.integers(0, 1))))))
    if all(group is None for one in releases for group in one.groups):
        releases.append(Told((0,) * size))
    return values, places, releases, draw(st.sampled_from([2, 3]))


def chances(values, places):
    """What the reader of the view of places knows, and whoever knows only the whole table."""
    whole = Counter(values)
    by_place = {one: Counter() for one in places}
    for value, place in zip(values, places, strict=True):
        by_place[place][value] += 1
    share = {
        place: {v: Fraction(count[v], count.total()) for v in sorted(whole)}
        for place, count in by_place.items()
    }
    return [share[place] for place in places]


def shown(table, told):
    numbers = {}
    group = np.array(
        [-1 if one is None else numbers.setdefault(one, len(numbers)) for one in told.groups],
        np.int32,
    )
    pooled = np.array([one in told.pooled for one in told.groups])
    return Shown(table, group, np.where(pooled, table.masked[table.row_value], table.row_value))


def judged(values, places, releases, r):
    frame = pl.DataFrame({"place": places, "ill": values})
    protect = [[one] for one in PROTECTED if one in values]
    spec = shoal.Spec(qi=["place"], sensitive="ill", protect=protect, r=r, min_support=1)
    table = shoal.Table.from_frame(frame, spec)
    return judge_releases(table, [shown(table, one) for one in releases])


def worst(values, places, releases):
    """Of each person the largest posterior of any event, by any reader."""
    known, most = chances(values, places), [Fraction(0)] * len(values)
    for event in PROTECTED:
        for joint in (True, False):
            if event in values:
                given = known, values, releases, PROTECTED, event
                for j, found in enumerate(posteriors(*given, joint=joint)):
                    most[j] = max(most[j], found or Fraction(0))
    return most


@given(published())
@settings(max_examples=300, deadline=None)
def test_every_world_says_the_same(case):
    values, places, releases, r = case
    found = judged(values, places, releases, r)
    for j, most in enumerate(worst(values, places, releases)):
        if most > Fraction(1, r):
            assert found.state[j] == 2
        elif most < Fraction(1, r):
            assert found.state[j] == 0
        if found.sure[j]:
            assert most == 1
    assert found.undecided == 0


@given(published())
@settings(max_examples=200, deadline=None)
def test_it_says_nothing_who_of_a_group_is_named_with_which_value(case):
    values, places, releases, r = case
    frame = pl.DataFrame({"place": places, "ill": values})
    protect = [[one] for one in PROTECTED if one in values]
    spec = shoal.Spec(qi=["place"], sensitive="ill", protect=protect, r=r, min_support=1)
    table = shoal.Table.from_frame(frame, spec)
    turned = []
    for one in (shown(table, told) for told in releases):
        value = one.value.copy()
        for group in np.unique(one.group[one.group >= 0]):
            mine = np.flatnonzero(one.group == group)
            value[mine] = one.value[mine[::-1]]
        turned.append(one._replace(value=value))
    found = judge_releases(table, turned)
    plain = judged(values, places, releases, r)
    assert np.array_equal(found.state, plain.state)
    assert np.array_equal(found.sure, plain.sure)


@given(published())
@settings(max_examples=300, deadline=None)
def test_bounds_promise_nobody_too_much(case):
    values, places, releases, r = case
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(judge, "SMALL", 0)
        found = judged(values, places, releases, r)
    for j, most in enumerate(worst(values, places, releases)):
        if found.state[j] == 0:
            assert most <= Fraction(1, r)
        if found.state[j] == 2:
            assert most >= Fraction(1, r)
        if found.sure[j]:
            assert most == 1
