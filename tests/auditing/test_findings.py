"""What is found is kept as it is, and what is private never leaves with what is public."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.auditing.audit import audit
from shoal.auditing.check_words import in_full, lines
from shoal.auditing.counting import TellingClass
from shoal.auditing.findings import (
    Absence,
    Counted,
    Counter,
    Findings,
    Judged,
    PublicFindings,
    PublicWitness,
    Witness,
)
from shoal.auditing.models import Model, Models
from shoal.auditing.persons import PersonVerdict
from shoal.data.table import Table
from shoal.knowledge.fitted import ENOUGH_CASES, Fitted, Quality
from shoal.plain import plain, typed
from shoal.release.facts import Facts, audit_facts
from shoal.report.page import render
from shoal.report.public import public_facts
from shoal.report.sentences import assumptions, limits_of_theory, story, verdict_sentence
from tests.release.fixed import CERTAIN, SEXES, SEXES_SPEC

TABLE = Table.from_frame(SEXES, SEXES_SPEC)
AUDIT = audit(TABLE, CERTAIN, models=True)
FACTS = audit_facts(AUDIT, TABLE)


def names(kind: type) -> set[str]:
    return {one.name for one in fields(kind)}


def test_every_field_is_decided_on() -> None:
    """A new one is private until it is declared where everybody may see it, and listed here."""
    assert names(Findings) - names(PublicFindings) == {
        *("worst_by_event", "guess_rate", "guess_rate_view", "guess_rate_known_before"),
        *("problematic_share", "problematic_carriers", "persons", "models"),
    }
    assert names(Witness) - names(PublicWitness) == {"row", "person", "group", "adversary"}
    assert names(Counted) - names(Counter) == {"carriers", "certain", "worst"}
    assert names(Absence) == {"kept", "carriers"}


def marked(mark: str, number: int) -> Findings:
    """Findings that have a mark in each private place."""
    found = AUDIT.findings
    witness = Witness(
        row=number,
        person={mark: mark},
        group=mark,
        event="x",
        view=("sex",),
        before=0.2,
        posterior=0.4,
        kind="exact",
        adversary=mark,
        limit=1 / 3,
    )
    stratum = TellingClass(mark, (mark,), mark, number, number, number, number)
    inside: dict[str, Any] = {"carriers": number, "certain": number, "worst": (stratum,)}
    rare = Quality(mark, 0.5, number, ENOUGH_CASES - 1, 0.1)
    return replace(
        found,
        worst=witness,
        worst_by_event={mark: witness},
        counter=replace(found.counter, **inside),
        absence=replace(
            found.absence, certain=number, worst=(stratum,), carriers_in_worst_view=number
        ),
        guess_rate=number,
        guess_rate_view=(mark,),
        guess_rate_known_before=number,
        problematic_share=number,
        problematic_carriers=number,
        persons=PersonVerdict(True, number, number, number, number),
        models=Models((Model(mark, {mark: number}, mark),), (mark,)),
        fitted=(Fitted("m", 5, 1, (rare,)),),
    )


MARKS = st.text("ABCDEFGHJK", min_size=12, max_size=12)
NUMBERS = st.integers(10**9, 10**12)


def edition(found: Findings) -> Facts:
    return public_facts(replace(FACTS, verdict=found))


@given(MARKS, NUMBERS)
@settings(max_examples=50)
def test_what_is_private_never_leaves(mark: str, number: int) -> None:
    found = marked(mark, number)
    inside = json.dumps(plain(found))
    assert inside.count(mark) > 10
    assert inside.count(str(number)) > 10
    shown = edition(found)
    public = shown.verdict
    texts = [
        json.dumps(plain(typed(Judged, found))),
        json.dumps(plain(shown)),
        str(shown),
        verdict_sentence(shown, public=True),
        story(public.worst, public=True),
        str(assumptions(shown)),
        str(limits_of_theory(shown, public=True)),
        str(in_full(public, "v")),
        *lines(public.checks),
    ]
    for text in texts:
        assert mark not in text
        assert str(number) not in text
        assert f"{number:,}" not in text


def test_no_mark_stands_on_the_public_page() -> None:
    found = marked("ABCDEFGHJKAB", 987654321)
    page = render(replace(FACTS, verdict=found), edition="public")
    assert not [mark for mark in ("ABCDEFGHJKAB", "987654321", "987,654,321") if mark in page]


def test_plain_data_is_read_as_it_was_written() -> None:
    found = AUDIT.findings
    assert typed(Findings, json.loads(json.dumps(plain(found)))) == found
    read = Findings.of(json.loads(json.dumps(AUDIT.to_dict())))
    assert read.to_dict() == found.to_dict()
    assert read.checks == found.checks


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("rows", "ten"),
        ("rows", True),
        ("rows", 1.5),
        ("limit", "none"),
        ("worst", []),
        ("checks", [{"name": "one-view"}]),
        ("checks", {}),
        ("posteriors", {"exact": "many"}),
        ("adversaries", [{"robust": True}]),
    ],
)
def test_what_is_of_another_type_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises(ValueError, match=" "):
        Findings.of({**AUDIT.to_dict(), name: wrong})


def test_what_is_missing_is_refused_and_what_is_unknown_left_behind() -> None:
    told = AUDIT.to_dict()
    assert Findings.of({**told, "later": 1}) == Findings.of(told)
    del told["rows"]
    with pytest.raises(ValueError, match="rows"):
        Findings.of(told)
