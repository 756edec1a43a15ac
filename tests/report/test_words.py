"""What a report says, and in which words."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.auditing.checks import State
from shoal.auditing.findings import PublicWitness, Witness
from shoal.data.datasets import hospital
from shoal.data.table import Table
from shoal.plain import typed
from shoal.release import facts as recorded
from shoal.release.facts.contents import Facts
from shoal.report import page as report
from shoal.report.measured import class_errors
from shoal.report.page import Edition
from shoal.report.public import command_line, judged
from shoal.report.sentences import (
    assumptions,
    known_sentence,
    story,
    verdict_sentence,
)
from shoal.wording import (
    ALL_VIEWS,
    exposed_words,
    isolated,
    lower_words,
    percent,
    seed_words,
    visible,
)
from tests.report.page import Page


def test_the_story_of_a_witness() -> None:
    witness = Witness(
        row=7,
        person={"age": "61", "sex": "Male", "occupation": "Farming"},
        group="3",
        event="ill",
        view=("age/10", "occupation"),
        before=0.2237,
        posterior=0.0979,
        kind="bound",
        adversary="joint",
        limit=0.1,
    )
    told = story(witness, public=False).replace("\u00a0", " ")
    assert told == (
        "The worst case by one view at a time: a person with age 61 and occupation Farming is "
        "linked to “ill” with at most 9.8 %, through age/10 and occupation; public statistics "
        f"alone say 22.4 %.{lower_words(0.2237, 0.0979)}"
    )
    assert "fewer cases than public statistics lead one to expect" in told
    higher = story(replace(witness, before=0.05), public=False)
    assert higher.endswith("through age/10 and occupation; public statistics alone say 5\u00a0%.")
    few = story(replace(witness, whole_table=True), public=False)
    assert "; on so few people there is no public figure but the whole table's share, 22.4" in few
    faceless = typed(PublicWitness, replace(witness, kind="estimate", shared=3))
    told = story(faceless, public=True).replace("\u00a0", " ")
    assert told == (
        "The worst case by one view at a time: someone whom this edition does not describe is "
        "linked to “ill” with about 9.8 %, through age/10 and occupation; public statistics alone "
        f"say 22.4 %.{lower_words(0.2237, 0.0979)} Fewer than 5 people are linked as surely as "
        "that."
    )
    assert "nobody to link" in story(None, public=True)


def test_the_verdict_is_the_audits(made: tuple[shoal.Release, Table]) -> None:
    release, table = made
    audit = release.audit
    assert audit is not None
    text = Page(report.render_release(release, table)).text
    assert audit.robust is False
    assert f"Not robust at r = 3: {audit.problematic:,} people are linked above their limit" in text
    loose = shoal.audit(table, np.zeros(table.rows, int), r=1.5)
    assert loose.robust
    text = Page(report.render_audit(loose, table)).text
    assert (
        "Robust at r = 1.5: all 5 checks are kept. The largest link to “HIV|Schizophrenia” is "
        in text
    )


def with_states(facts: Facts, **states: tuple[State, int]) -> Facts:
    """The facts with these states of checks and numbers of people; all else is kept."""
    kept = [
        replace(one, state="kept", people=0, worst=None)
        for one in facts.verdict.checks
        if one.state != "not asked"
    ]
    found = {one.name.replace("-", "_"): one for one in kept}
    for name, (state, number) in states.items():
        found[name] = replace(found[name], state=state, people=number)
    return replace(facts, verdict=replace(facts.verdict, checks=tuple(found.values())))


def test_an_open_verdict_gives_its_reasons(facts: Facts) -> None:
    sentence = verdict_sentence(with_states(facts, one_view=("undecided", 7)), public=False)
    assert sentence.startswith("Not shown to be robust at r = 3: 7 people could not be decided")
    assert "publish values that contradict" in sentence


def test_a_verdict_that_all_counts_make_says_so_and_no_zero(facts: Facts) -> None:
    """Nobody is above the limit in one view, and all counts together point at some."""
    broken = with_states(facts, all_views=("broken", 2))
    for public, count in ((False, "2"), (True, "Fewer than 5")):
        said = verdict_sentence(broken, public=public)
        assert (
            f": {count} people are linked above their limit by all public statistics together."
            in said
        )
        assert "0 people" not in said
    said = verdict_sentence(with_states(facts, all_views=("undecided", 0)), public=False)
    assert said.endswith("all public statistics together, which were not fitted closely enough.")


def test_sections_come_in_order(made: tuple[shoal.Release, Table]) -> None:
    html = report.render_release(*made)
    ids = ["verdict", "risk", "views", "groups", "loss", "assumed", "repeat"]
    places = [html.index(f'id="{name}"') for name in ids]
    assert places == sorted(places)
    text = Page(html).text
    for part in (seed_words(9), "min_support", "2,000 random questions", 'sensitive = "diagnosis"'):
        assert part in text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (0.2237, "22.4 %"),
        (0.1, "10 %"),
        (1, "100 %"),
        (0.000312, "0.031 %"),
        (1e-9, "under 0.001 %"),
    ],
)
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text.replace(" %", "\u00a0%")


def test_a_breach_never_looks_like_the_limit() -> None:
    assert judged(0.10004, "exact", limit=0.1) == "10.004\u00a0%"
    assert judged(0.1, "exact", limit=0.1) == "10\u00a0%"
    assert judged(0.09811, "bound", limit=0.1) == "at most 9.9\u00a0%"
    assert judged(0.0984, "estimate", limit=0.1) == "about 9.8\u00a0%"


def test_foreign_text() -> None:
    assert isolated("plain") == "plain"
    assert isolated("שלום") == "\u2068שלום\u2069"
    assert visible("a\tb") == "a⟨U+0009⟩b"
    assert visible("x" * 10_000).endswith("… (10,000 characters)")


def test_a_command_shows_no_password() -> None:
    line = command_line(["audit", "postgresql://ann:hunter2@host/db?table=t", "-r", "3"])
    assert "hunter2" not in line
    assert line.startswith("shoal audit ")


def test_an_open_verdict_claims_no_worst_case_of_all(facts: Facts) -> None:
    witness = facts.verdict.worst
    assert story(witness, public=False).startswith("The worst case by one view at a time: ")
    told = story(witness, public=False, undecided=7)
    assert told.startswith("The worst case that was found by one view at a time: ")
    assert witness is not None
    alone = story(replace(witness, view=(ALL_VIEWS,)), public=False)
    assert alone.startswith("The worst case: ")


def test_limits_of_their_own_stand_in_the_headline(facts: Facts) -> None:
    event = facts.events[0]
    limits = {"HIV": 0.1, "cough": 1 / 3}
    events = tuple(replace(event, label=name, limit=one) for name, one in limits.items())
    own = replace(facts, events=events, limits=(0.1, 1 / 3), relative=True)
    told = verdict_sentence(own, public=False).replace("\u00a0", " ")
    assert "at each event's own limit (10 % for “HIV” and 33.3 % for “cough”): " in told
    assert "r = 3" not in told
    hidden = replace(own, events=events[:1])
    told = verdict_sentence(hidden, public=True).replace("\u00a0", " ")
    assert "at each event's own limit (10 % to 33.3 %): " in told
    safe = verdict_sentence(with_states(hidden), public=True).replace("\u00a0", " ")
    assert "all 5 checks are kept." in safe


@pytest.mark.parametrize(
    ("known", "public", "start"),
    [
        (0, False, "Public statistics alone exceed 1/r (33.3 %) for nobody"),
        (1, False, "For 1 person public statistics alone exceed 1/r"),
        (1, True, "For fewer than 5 people public statistics alone exceed 1/r"),
        (1200, True, "For 1,200 people public statistics alone exceed 1/r"),
    ],
)
def test_people_known_before_stand_beside_the_verdict(
    facts: Facts, known: int, public: bool, start: str
) -> None:
    told = replace(facts, verdict=replace(facts.verdict, known_before=known))
    sentence = known_sentence(told, public=public)
    assert sentence.replace("\u00a0", " ").startswith(start)
    edition: Edition = "public" if public else "internal"
    assert " ".join(sentence.split()) in Page(report.render(told, edition=edition)).text


def test_no_adversary_is_called_the_stronger(facts: Facts) -> None:
    for adversary, other in (("joint", "binary"), ("binary", "joint")):
        told = replace(facts, verdict=replace(facts.verdict, reasoning={adversary: "thinks"}))
        (sentence,) = (text for name, text in assumptions(told) if name == "How they reason")
        assert f"shoal audit --adversary {other}" in sentence
        assert "stronger" not in sentence


def test_counts_by_group_of_people_name_the_worst_class() -> None:
    spec = shoal.Spec(
        qi=("sex", "region"),
        sensitive="diagnosis",
        protect=[["Hypertension"]],
        r=2,
        min_support=100,
    )
    table = Table.from_frame(hospital(1_500, seed=4), spec)
    facts = recorded.release_facts(shoal.anonymize(table, spec, method="anatomy", l=3), table)
    assert facts.queries is not None
    classes = facts.queries.classes
    worst = classes.worst[0]
    told = class_errors(facts.queries).replace("\u00a0", " ")
    assert told.startswith(f"{classes.counted.classes} strata that")
    whose = " and ".join(f"{name} “{value}”" for name, value in worst.class_.items())
    assert (
        f"worst among people with {whose}: {worst.carriers} have “Hypertension”, and the "
        f"release leads to an estimate of {worst.estimate:.0f}."
    ) in told
    inside = Page(report.render(facts)).text
    assert inside.index("Counts of cases by stratum") < inside.index("Who is at risk")
    assert "Counts by group of people" in inside
    assert "Standard error" in inside
    covered = percent(classes.counted.covered or 0).replace("\u00a0", " ")
    assert f"In {covered} of the strata the truth lies in the 95 % interval" in told
    assert "Counts by group of people" not in Page(report.render(facts, edition="public")).text
    nobody = replace(facts.queries, classes=replace(classes, worst=()))
    assert class_errors(nobody) == "Not judged: no stratum has 100 cases of an event."
    assert class_errors(None) == ""


def test_what_stands_beside_the_verdict_is_in_the_first_screen(
    made: tuple[shoal.Release, Table],
) -> None:
    """The list of checks, who is shown openly and errors of counts come before any figure."""
    for edition in get_args(Edition):
        html = report.render_release(*made, edition=edition)
        start, end = html.index('<dl class="checks">'), html.index('<dl class="figures">')
        assert html.index('id="verdict"') < start < end < html.index('id="risk"')
        before = html[start:end]
        assert "Counts of cases by stratum" not in before  # 100 cases are in none
        told = "Not judged: no stratum has 100 cases" in html[end:]
        assert told is (edition == "internal")
        for name in ("Exact values", "Looked up by attributes"):
            assert html.count(f"<dt>{name} ") == before.count(f"<dt>{name} ") == 1


def test_ties_among_the_most_exposed_are_told(made: tuple[shoal.Release, Table]) -> None:
    assert exposed_words(10, 10) == "The 10 most exposed people"
    assert exposed_words(10, 11772).startswith("10 of the 11,772 most exposed people (all of them")
    _, table = made
    audit = shoal.audit(table, np.zeros(table.rows, int))
    shown = audit.worst_people(10)
    least = shown["exposure"].min() * (1 - 1e-9)
    assert audit.exposed_like(10) == audit.frame.filter(pl.col("exposure") >= least).height
    text = Page(report.render_audit(audit, table)).text
    assert exposed_words(10, audit.exposed_like(10)) in text
