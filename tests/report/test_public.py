"""What the public edition keeps to itself."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.auditing.findings import Findings
from shoal.data.table import Table
from shoal.release import facts as recorded
from shoal.release.facts.bins import merge_small
from shoal.release.facts.contents import Facts
from shoal.release.facts.records import RiskBin
from shoal.report import page as report
from shoal.report.public import public_facts, public_risk
from shoal.report.sentences import verdict_sentence
from shoal.wording import percent
from tests.release.fixed import CERTAIN, SEXES, SEXES_SPEC, WIDE
from tests.report.marked import ROWS, assert_nothing_of_one_person, marked_table
from tests.report.page import Page
from tests.report.test_words import with_states


def test_public_edition_of_an_audit_has_no_row_level_value(facts: Facts) -> None:
    html = report.render(facts, edition="public")
    assert_nothing_of_one_person(html)
    assert "SECRET-PLACE" not in html


def test_internal_edition_has_them(facts: Facts) -> None:
    html = report.render(facts)
    for mark in ("TOWN-MARK", "SEX-MARK", "GROUP-MARK", "SECRET-PLACE", "7130"):
        assert mark in html


@pytest.mark.parametrize("method", ["anatomy", "mondrian"])
def test_public_edition_of_a_release_has_no_row_level_value(method: str) -> None:
    table = marked_table()
    given = {"k": 6} if method == "mondrian" else {"l": 4}
    release = shoal.anonymize(table, table.spec, method=method, seed=2, **given)
    assert_nothing_of_one_person(report.render_release(release, table, edition="public"))
    assert "TOWN-MARK" in report.render_release(release, table)


def test_public_edition_when_every_value_is_protected() -> None:
    table = marked_table(protect=None)
    audit = shoal.audit(table, [0, *(1 + np.arange(1, ROWS) // 8)])
    assert audit.worst is not None
    assert audit.worst.event == "RARE-DIAGNOSIS"
    html = report.render_audit(audit, table, edition="public")
    assert_nothing_of_one_person(html)
    assert "a rare protected value" in Page(html).text
    assert "RARE-DIAGNOSIS" in report.render_audit(audit, table)


def test_public_facts_have_no_place_for_a_person(facts: Facts) -> None:
    def keys(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {key for part in value.values() for key in keys(part)}
        return {key for part in value for key in keys(part)} if isinstance(value, list) else set()

    assert {"row", "person", "group"} <= keys(asdict(facts))
    assert not {"row", "person", "group"} & keys(asdict(public_facts(facts)))


def test_public_edition_names_no_file_of_outside_knowledge(tmp_path: Path) -> None:
    file = tmp_path / "secret-study.csv"
    file.write_text("sex,value,probability\nSEX-MARK-F,HIV,0.2\n", encoding="utf-8")
    table = marked_table(knowledge=str(file))
    audit = shoal.audit(table, np.arange(ROWS) // 6)
    assert "secret-study" in report.render_audit(audit, table)
    assert "secret-study" not in report.render_audit(audit, table, edition="public")


def counted_facts(groups: tuple[int, ...] = CERTAIN) -> Facts:
    table = Table.from_frame(SEXES, SEXES_SPEC)
    return recorded.audit_facts(shoal.audit(table, groups), table)


def test_the_classes_that_counting_gives_away_are_internal() -> None:
    facts = counted_facts()
    assert isinstance(facts.verdict, Findings)
    assert facts.verdict.counter.worst[0].described == "sex m"
    inside, outside = (
        Page(report.render(facts, edition=one)).text for one in ("internal", "public")
    )
    assert "2 people are certain to have a protected value" in inside
    assert "sex m" in inside
    assert "Fewer than 5 people are certain to have a protected value" in outside
    assert "sex m" not in outside
    assert "of the 4 people" not in outside


def test_who_is_given_away_by_absence_is_internal() -> None:
    facts = counted_facts((WIDE[0], -1, *WIDE[2:]))
    inside, outside = (
        Page(report.render(facts, edition=one)).text for one in ("internal", "public")
    )
    assert "Not robust at r = 3: " in inside
    assert "1 person is linked above their limit by being left out." in inside
    assert "sex m" in inside
    assert "Fewer than 5 people are linked above their limit by being left out." in outside
    assert "sex m" not in outside


def test_small_counts_are_called_small(facts: Facts) -> None:
    few = with_states(facts, one_view=("broken", 3))
    assert ": Fewer than 5 people are linked above" in verdict_sentence(few, public=True)
    assert ": 3 people are linked above" in verdict_sentence(few, public=False)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=30))
def test_merged_bins_hold_everybody_and_no_small_count(counts: list[int]) -> None:
    bins = [RiskBin(n / 10, (n + 1) / 10, count) for n, count in enumerate(counts)]
    merged = merge_small(bins, 5)
    assert not [one for one in merged if 0 < one.people < 5]
    if sum(counts) >= 5:
        assert sum(one.people for one in merged) == sum(counts)
        assert sum(one.parts for one in merged) == len(counts)
        assert merged[0].low == 0
        assert merged[-1].high == bins[-1].high
        assert all(a.high == b.low for a, b in pairwise(merged))


def test_the_limit_stays_an_edge_unless_a_side_is_too_small() -> None:
    def bins(counts: list[int]) -> list[RiskBin]:
        return [RiskBin(n / 10, (n + 1) / 10, count) for n, count in enumerate(counts)]

    kept = public_risk(bins([9, 2, 3, 4]), 0.2)
    assert [(one.high, one.people) for one in kept] == [(0.2, 11), (0.4, 7)]
    crossed = public_risk(bins([9, 6, 3, 0]), 0.2)
    assert sum(one.people for one in crossed) == 18
    assert not [one for one in crossed if 0 < one.people < 5]


def test_public_edition_has_no_figure_measured_with_the_truth(
    made: tuple[shoal.Release, shoal.Table],
) -> None:
    release, table = made
    audit = release.audit
    assert audit is not None
    facts = recorded.release_facts(release, table)
    shown = public_facts(facts)
    for name in ("guess_rate", "guess_rate_known_before", "problematic_carriers"):
        assert hasattr(facts.verdict, name)
        assert not hasattr(shown.verdict, name)
    assert {view.guess for view in shown.views} == {None}
    assert shown.queries is None
    guess = percent(audit.guess_rate.worst).replace("\u00a0", " ")
    inside, outside = (
        Page(report.render(facts, edition=edition)).text for edition in ("internal", "public")
    )
    assert f"is right in {guess} of the groups" in inside.replace("\u00a0", " ")
    assert "with the truth in hand" not in outside
    assert "Count queries" in inside
    assert "Count queries" not in outside
    for words in ("Guess is right", "A simple guess, the likeliest member"):
        assert words in inside
        assert words not in outside
