"""Flows of carriers: one more person of the class in any group that is reached undoes certainty."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.groups.flows import Flow


@given(st.integers(0, 10_000))
@settings(max_examples=200, deadline=None)
def test_one_more_in_a_group_that_is_reached_helps_and_elsewhere_not(seed: int) -> None:
    """Who is certain at all is held against enumeration in tests/attacks/test_scoring.py."""
    random = np.random.default_rng(seed)
    lines = int(random.integers(2, 14))
    group, kind = random.integers(0, 5, lines), random.integers(1, 5, lines)
    people = random.integers(1, 3, lines)
    carrying = np.minimum(people, random.integers(0, 3, lines))
    flow = Flow.of(group, kind, people, carrying)
    for line in np.flatnonzero(flow.certain).tolist():
        reached = flow.reached(line).tolist()
        assert group[line] in reached
        for one in np.unique(group).tolist():
            more = Flow.of(
                np.append(group, one),
                np.append(kind, kind[line]),
                np.append(people, 1),
                np.append(carrying, 0),
            )
            assert more.certain[line] == (one not in reached)


@given(st.integers(0, 10_000))
@settings(max_examples=100, deadline=None)
def test_lines_of_the_same_group_and_class_may_be_apart(seed: int) -> None:
    random = np.random.default_rng(seed)
    lines = int(random.integers(2, 14))
    group, kind = random.integers(0, 4, lines), random.integers(0, 3, lines)
    carries = random.random(lines) < 0.5
    apart = Flow.of(group, kind, np.ones(lines, np.int64), carries.astype(np.int64))
    keys, place = np.unique(group * 3 + kind, return_inverse=True)
    people, carrying = np.bincount(place), np.bincount(place, carries).astype(np.int64)
    together = Flow.of(keys // 3, keys % 3, people, carrying)
    assert apart.certain.tolist() == together.certain[place].tolist()
