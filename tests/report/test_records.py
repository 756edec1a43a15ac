"""The figures of a report and what its charts draw."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.data.table import Table
from shoal.release import facts as recorded
from shoal.release.facts.bins import count_within, probability_edges, size_edges
from shoal.release.facts.contents import Facts
from shoal.report import page as report
from shoal.report.charts import audit as charts
from tests.report.marked import ROWS, assert_nothing_of_one_person, marked_table
from tests.report.page import Page


def test_risk_bins_count_every_published_person_once(made: tuple[shoal.Release, Table]) -> None:
    release, table = made
    audit = release.audit
    assert audit is not None
    facts = recorded.release_facts(release, table)
    for when, over in (("before", audit.known_before), ("after", audit.problematic)):
        bins = facts.risk[when]
        assert sum(one.people for one in bins) == audit.published
        above = [one.people for one in bins if one.low >= facts.limits[0] - 1e-9]
        assert sum(above) == over


def test_a_value_at_the_limit_lies_below_it() -> None:
    edges = probability_edges(0.1, 0.35)
    counts = count_within(np.array([0.0, 0.1, 0.1 + 1e-6, 0.35]), edges)
    limit = int(np.searchsorted(edges, 0.1 - 1e-12))
    assert sum(counts[:limit]) == 2
    assert sum(counts) == 4
    assert len(probability_edges(0.0001, 1.0)) <= 62


def test_view_records_are_the_audits(facts: Facts) -> None:
    audit = shoal.audit(marked_table(), np.arange(ROWS) // 6)
    assert max(one.worst for one in facts.views) == audit.worst_posterior
    assert [one.worst for one in facts.views] == sorted(
        (risk.worst for risk in audit.by_view.values()), reverse=True
    )
    assert max(risk.problematic for risk in audit.by_view.values()) <= audit.problematic
    deltas = [risk.delta for risk in audit.by_view.values()]
    assert np.mean(deltas) == pytest.approx(audit.average_delta_carrying)
    chart = charts.view_chart(facts.views, limit=1 / 3)
    drawn = chart["data"]["values"]
    assert [one["label"] for one in drawn] == [one.name for one in facts.views]
    assert [one["over"] for one in drawn] == [one.worst > 1 / 3 for one in facts.views]


def test_group_sizes(facts: Facts) -> None:
    filled = [one for one in facts.sizes if one.people]
    assert [(one.low, one.high, one.people) for one in filled] == [(6, 6, ROWS)]
    assert filled[0].with_event + filled[0].without == ROWS // 6
    starts = size_edges(1_000_000)
    assert starts == sorted(set(starts))
    assert starts[-1] > 1_000_000


def read_off(release: shoal.Release, table: Table) -> dict[str, float]:
    """Each QI's total variation distance, by counting the published lines one by one."""
    ranges, found = release.frames.get("ranges"), {}
    for column in table.qi:
        before, after = Counter[str](), Counter[str]()
        for signature, rows in enumerate(table.signature_rows):
            before[table.describe(signature)[column.name]] += int(rows)
        for label in release.qi[column.name].cast(pl.String).fill_null("(missing)"):
            covered = [label]
            if ranges is not None:
                covered = ranges.filter(attribute=column.name, label=label)["value"].to_list()
            for value in covered:
                after[value] += 1 / len(covered)
        p, q = ({name: n / one.total() for name, n in one.items()} for one in (before, after))
        found[column.name] = sum(abs(p.get(v, 0) - q.get(v, 0)) for v in {*p, *q}) / 2
    return found


@pytest.mark.parametrize("method", ["anatomy", "mondrian"])
def test_distances_are_those_of_the_published_lines(method: str) -> None:
    table = marked_table()
    given = {"k": 6} if method == "mondrian" else {"l": 3}
    release = shoal.anonymize(table, table.spec, method=method, seed=2, **given)
    found = recorded.release_facts(release, table, queries=False).loss
    told = {column.name: column.distance for column in found if column.role == "QI"}
    assert told == pytest.approx(read_off(release, table), abs=1e-9)


def test_suppressed_rows_move_the_distribution() -> None:
    table = marked_table()
    labels = pl.Series([None if n < 60 else n // 6 for n in range(ROWS)])
    facts = recorded.audit_facts(shoal.audit(table, labels), table)
    town = next(one for one in facts.loss if one.name == "town")
    assert town.distance == pytest.approx(60 / ROWS)
    assert town.gone == 60
    assert facts.verdict.suppressed == 60


def test_events_with_limits_of_their_own_are_drawn_relative_to_them() -> None:
    table = marked_table(protect=("HIV", {"values": ["cough"], "r": 1.5}))
    audit = shoal.audit(table, np.arange(ROWS) // 6)
    facts = recorded.audit_facts(audit, table)
    assert facts.relative
    assert facts.limits == pytest.approx([1 / 3, 2 / 3])
    above = [one.people for one in facts.risk["after"] if one.low >= 1 - 1e-9]
    assert sum(above) == audit.problematic
    known = [one.people for one in facts.risk["before"] if one.low >= 1 - 1e-9]
    assert sum(known) == audit.known_before
    html = report.render(facts)
    told = Page(html).text.replace("\u00a0", " ")
    asked = "at each event's own limit (33.3 % for “HIV” and 66.7 % for “cough”): "
    assert f"{asked}{audit.problematic:,} people are linked above their limit" in told
    assert_nothing_of_one_person(report.render(facts, edition="public"))


@given(st.floats(1e-4, 1.0), st.floats(0.0, 1.0))
def test_edges_hold_the_limit_and_everybody(limit: float, largest: float) -> None:
    edges = probability_edges(limit, largest)
    assert edges[0] == 0
    assert edges[-1] >= largest - 1e-9
    assert np.abs(edges - limit).min() < 1e-12
    assert (np.diff(edges) > 0).all()
    assert len(edges) <= 62
