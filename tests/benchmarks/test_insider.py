"""Insiders: right by chance on random groups, and far more often on the references: groups that are
grown row by row around their carriers, or made without regard to what is known of people."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchmarks.insider import Finding, attack
from benchmarks.insider.attack import (
    foretell,
    likeliest_in_worst_view,
    right_in,
    score,
    unforeseen,
    unknown,
)
from benchmarks.insider.section import METHODS, measured
from benchmarks.settings import hospital_subject, icd9_chapter
from shoal.attacks import Lineup
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.knowledge import Knowledge
from tests.attacks.people import SIZE, deal, made_up, some_groups


@pytest.mark.parametrize("seed", range(4))
def test_rates_are_those_of_an_obvious_count(seed: int) -> None:
    table = made_up(seed)
    lineup = Lineup.of(table, some_groups(table, seed), Knowledge.of(table))
    quiet = unknown(lineup)
    for case in range(lineup.cases):
        mine = range(int(lineup.start[case]), int(lineup.start[case + 1]))
        known = any(lineup.carrying[i] and lineup.prior[i] > 1 / lineup.r[case] for i in mine)
        assert quiet[case] == (not known)
    scores = np.random.default_rng(seed).random(len(lineup.signature))
    right = right_in(lineup, scores, np.random.default_rng(1))
    foretold = [foretell(table, name) for name in ("boosting", "logistic")]
    new = unforeseen(lineup, foretold)
    for case in range(lineup.cases):
        mine = range(int(lineup.start[case]), int(lineup.start[case + 1]))
        event = lineup.event[case]
        above = any(
            lineup.carrying[i] and chances[lineup.signature[i], event] > 1 / lineup.r[case]
            for i in mine
            for chances in foretold
        )
        assert new[case] == (quiet[case] and not above)
    found = score(lineup, "somebody", scores, np.random.default_rng(1), unforeseen=new)
    assert (found.unforeseen.tries, found.unforeseen.hits) == (new.sum(), right[new].sum())
    assert (found.everybody.tries, found.everybody.hits) == (len(right), right.sum())
    assert (found.unknown.tries, found.unknown.hits) == (quiet.sum(), right[quiet].sum())
    worst = likeliest_in_worst_view(lineup, np.random.default_rng(1))
    assert worst.everybody.chosen_among == 2 * len(lineup.knowledge.views)


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.attacker: finding for finding in findings}


def test_on_groups_drawn_at_random_insiders_are_right_by_chance() -> None:
    table = made_up(1, rows=4_000, carriers=0.2)
    # Known of other people, drawn in the same way: the table's own counts would tell a little.
    knowledge = Knowledge.of(made_up(2, rows=4_000, carriers=0.2))
    rng = np.random.default_rng(11)
    found = attack(table, deal(table, 0), knowledge, rng=rng, method=deal)
    insiders = [finding for finding in found if finding.kind == "insider"]
    assert len(insiders) >= 9
    for finding in insiders:
        low, high = finding.everybody.interval
        assert finding.everybody.tries > 700
        assert low <= 1 / SIZE <= high, finding


@pytest.mark.parametrize(
    ("name", "r", "rule"),
    [
        ("Anatomy", 3.0, "medoid"),
        ("Anatomy", 5.0, "medoid"),
        ("ART, Theorem 1", 5.0, "likeliest on average"),
    ],
)
def test_on_the_references_they_are_far_better(name: str, r: float, rule: str) -> None:
    spec = Spec(
        qi=HOSPITAL_QI,
        sensitive=HOSPITAL_SENSITIVE,
        protect=(HOSPITAL_EVENT,),  # type: ignore[arg-type]
        identifiers=("patient",),
        r=r,
        min_support=50,
    )
    table = Table.from_frame(hospital(20_000, seed=0), spec)

    def method(some: Table, seed: int) -> Grouping:
        return METHODS[name].anonymize(some, seed=seed)

    rng = np.random.default_rng(11)
    grouping = method(table, 0)
    found = by_name(
        attack(table, grouping, Knowledge.of(table), rng=rng, method=method, resamples=1)
    )
    assert found["a random member"].everybody.interval[0] < 1 / r
    for attacker in (
        *(f"{one}, from the other half" for one in ("logit", "boosting")),
        *(f"{one}, from resamples" for one in ("logit", "boosting")),
        "counting in all views at once",
    ):
        assert found[attacker].everybody.rate > 1.3 / r, found[attacker]
        assert found[attacker].unknown.interval[0] > 1 / r, found[attacker]
    assert found[rule].everybody.interval[0] > found["a random member"].everybody.interval[1]
    assert found["counting in all views at once"].kind == "counting"


def test_a_release_without_events_and_one_with_a_single_group() -> None:
    table = made_up(2)
    nobody = np.where(table.row_event >= 0, -1, 0).astype(np.int32)
    rng = np.random.default_rng(0)
    assert attack(table, Grouping.of_rows(table, nobody), Knowledge.of(table), rng=rng) == []
    one = nobody.copy()
    one[np.flatnonzero(table.row_event == 0)[0]] = 0
    found = attack(table, Grouping.of_rows(table, one), Knowledge.of(table), rng=rng)
    assert {finding.everybody.tries for finding in found} == {1}


def test_a_line_of_the_section_can_be_kept() -> None:
    said = list[str]()
    line = measured(hospital_subject(4_000), "ART, Theorem 1", 2.0, said.append)
    assert json.loads(json.dumps(line)) == line
    assert {one["everybody"]["tries"] for one in line["attackers"]} == {
        line["carriers"] - line["suppressed"]
    }
    assert len(said) == 1 + len(line["attackers"])


def test_a_line_says_where_the_method_stopped() -> None:
    subject = hospital_subject(300)
    many = pl.when(pl.int_range(pl.len()) % 3 > 0).then(pl.lit("HIV")).otherwise("diagnosis")
    frame = subject.frame.with_columns(diagnosis=many)
    spec = subject.spec.with_(protect=(Event("HIV"),))
    said = list[str]()
    line = measured(replace(subject, frame=frame, spec=spec), "ART", 5.0, said.append)
    assert "find no group at r = 5" in line["failed"]
    assert line["limit"] == "absolute"
    assert "attackers" not in line
    assert len(said) == 2


@pytest.mark.parametrize(
    ("code", "chapter"),
    [
        ("250.83", "endocrine"),
        ("296", "mental"),
        ("319", "mental"),
        ("8", "infectious"),
        ("770", "other"),
        ("V57", "other"),
        ("?", "other"),
    ],
)
def test_chapters_of_diagnoses(code: str, chapter: str) -> None:
    assert icd9_chapter(code) == chapter
