"""Whatever is asked of ART: every claim of every release holds in every possible world."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import factorial, prod

import polars as pl
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from shoal.auditing.audit import audit as judged
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.methods.art import Art
from tests.dealing import row_groups
from tests.oracle import classes as counted
from tests.oracle.audit import Case, Protected, audit
from tests.property.test_art import tables

MOST_WORLDS = 3000

SHARED = {
    "max_suppression": st.just(1.0),
    "readers": st.sampled_from((("joint",), ("binary",), ("joint", "binary"))),
    "largest": st.sampled_from((4, 200)),
}
METHODS = st.builds(Art, cell=st.sampled_from((None, None, 3, 5)), **SHARED)


def case_of(frame: pl.DataFrame, table: Table, grouping: Grouping, reader: str) -> Case:
    """The release row by row; groups with more worlds than can be written down are left out."""
    spec, groups = table.spec, row_groups(table, grouping)
    pooled = set() if grouping.pooled is None else set(grouping.pooled.nonzero()[0].tolist())
    held: dict[int, Counter[int]] = {}
    for group, value in zip(groups.tolist(), table.row_value.tolist(), strict=True):
        shown = -1 if group in pooled and table.value_event[value] < 0 else value
        held.setdefault(group, Counter())[shown] += 1
    many = {
        group
        for group, counts in held.items()
        if factorial(counts.total()) > MOST_WORLDS * prod(map(factorial, counts.values()))
    }
    event(f"every group is judged: {not many - {-1}}")
    return Case(
        [tuple(map(str, row)) for row in frame.select(spec.qi).rows()],
        frame["x"].to_list(),
        [None if group < 0 or group in many else group for group in groups.tolist()],
        [
            Protected(one.label, one.values, Fraction(float(r)))
            for one, r in zip(table.events, table.event_r, strict=True)
        ],
        spec.min_support,
        members=spec.publish_members,
        pooled=frozenset(pooled),
        joint=reader == "joint",
        prior=spec.limit == "prior",
    )


@settings(max_examples=800, suppress_health_check=[HealthCheck.too_slow])
@given(tables(most=40), METHODS, st.integers(0, 2**40))
def test_nobody_is_linked_above_the_limit_to_whom_art_answers(
    made: tuple[pl.DataFrame, Spec], art: Art, seed: int
) -> None:
    frame, spec = made
    table = Table.from_frame(frame, spec)
    grouping = art.anonymize(table, seed=seed)
    assert grouping.claims["readers"] == list(art.readers)
    for reader in grouping.claims["readers"]:
        case = case_of(frame, table, grouping, reader)
        if set(case.groups) == {None}:
            continue
        found = audit(case)
        assert not any(found.problematic), reader
        event(f"somebody is linked: {any(found.posterior)}")
        for kind in ("pure", "pooled", "mixed"):
            event(f"{kind} groups: {grouping.claims[f'{kind}_groups'] > 0}")


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(tables(most=60), METHODS, st.integers(0, 2**40))
def test_everybody_is_in_one_group_or_a_suppressed_carrier(
    made: tuple[pl.DataFrame, Spec], art: Art, seed: int
) -> None:
    table = Table.from_frame(*made)
    grouping = art.anonymize(table, seed=seed)
    groups = row_groups(table, grouping)
    assert (groups >= 0).sum() == grouping.published
    missing, carries = groups < 0, table.row_event >= 0
    assert (missing & carries).any() or not missing.any(), "lookalikes go with carriers only"
    again = row_groups(table, art.anonymize(table, seed=seed))
    assert groups.tolist() == again.tolist()


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(tables(most=60), METHODS, st.integers(0, 2**40))
def test_who_counts_the_missing_of_every_class_finds_what_the_verdict_says(
    made: tuple[pl.DataFrame, Spec], art: Art, seed: int
) -> None:
    frame, spec = made
    table = Table.from_frame(frame, spec)
    grouping = art.anonymize(table, seed=seed)
    case = case_of(frame, table, grouping, "joint")
    missing = [None if group < 0 else group for group in row_groups(table, grouping).tolist()]
    told = counted.absence(replace(case, groups=missing))
    if grouping.published:
        kept = judged(table, grouping).absence.kept
        assert kept is (not told.classes)
        event(f"carriers are missing: {grouping.carriers(table) < table.carriers}, kept: {kept}")
