"""Every error of the catalogue has its field, or a reason why no field of a page is to blame."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from shoal.cli.explained import collect
from shoal.data.datasets import hospital
from shoal.workbench import blame
from shoal.workbench.blame import field_of, page_of
from shoal.workbench.project import verify_steps
from tests.workbench.visitor import Visitor

NO_FIELD = {
    "adult": "another command",
    "adversary-answer": "an adversary of one's own, in Python",
    "adversary-apart": "an adversary of one's own, in Python",
    "adversary-name": "an adversary of one's own, in Python",
    "all-views-counts": "knowledge counted elsewhere, which pages do not take",
    "attacker": "pages let every attacker loose",
    "attacker-class": "an attacker of one's own, in Python",
    "attacker-taken": "an attacker of one's own, in Python",
    "binary-": "a posterior in Python",
    "cells-": "cells counted elsewhere, which pages do not take",
    "chart-file": "another command",
    "count-": "a query in Python",
    "draw": "another command",
    "journal-none": "the page of changes itself",
    "engine-": "pages read with the default engine",
    "evidence-": "a button without a field",
    "explain-code": "another command",
    "group-": "a posterior in Python",
    "whole-number": "another command",
    "key-exists": "signing, which no page does",
    "knowledge-other": "knowledge of another table, in Python",
    "ledger-": "chains of releases, which pages do not make",
    "look-": "a choice among what a page lists",
    "memory": "an option that pages do not give",
    "memory-size": "an option that pages do not give",
    "no-size": "Theorem 1 in Python",
    "no-world": "a posterior in Python",
    "option-form": "the command line's own options",
    "placed-": "another command",
    "port": "before there are pages",
    "probability": "Theorem 1 in Python",
    "project-": "the folder as a whole",
    "query-dimensions": "a query in Python",
    "releases-": "several releases together, which pages do not judge",
    "report-": "where a report is written, which runs decide",
    "rows-unknown": "an audit in Python",
    "run-": "the run as a whole",
    "seed": "an option that pages do not give",
    "selectivity": "a query in Python",
    "sign-refuted": "signing, which no page does",
    "spark-": "pages read with the default engine",
    "context-": "project.toml, edited by hand",
    "verify-after": "chains of releases, which pages do not make",
    "where-form": "another command",
    "workload-size": "a query in Python",
}
PLACED: Mapping[str, blame.Fields] = {
    **blame.PAGES,
    "plan": blame.PLAN,
    "context": blame.CONTEXT,
    "find": blame.FIND,
    "coarser": blame.COARSER,
    "decide": blame.DECISION,
    "table": {**blame.UPLOADED, **blame.DATABASE, **blame.CHOSEN},
}
CODES = [entry.code for entry in collect()]


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_field_or_a_reason(code: str) -> None:
    placed = [page for page, fields in PLACED.items() if field_of(code, fields)]
    assert placed or field_of(code, NO_FIELD), code


@pytest.mark.parametrize("fields", [*PLACED.values(), NO_FIELD])
def test_every_front_is_one_of_the_catalogue(fields: Mapping[str, str]) -> None:
    """What errors are no longer called is no longer told of."""
    known = set(CODES)
    assert [
        one
        for one in fields
        if one not in known
        and not (one.endswith("-") and any(code.startswith(one) for code in known))
    ] == []


def test_the_longest_front_decides() -> None:
    assert field_of("separator", blame.CHOSEN) == "separator"
    assert field_of("decision-word", blame.DECISION) == "decision"
    assert field_of("decision-missing", blame.DECISION) == "reason"
    assert field_of("nothing-of-it", blame.RUN) is None


def test_a_run_is_mended_where_it_was_started() -> None:
    assert page_of("hierarchy-form", "anonymize") == "run"
    assert page_of("hierarchy-form", "plan") == "roles"
    assert page_of("key-twice", "audit") == "audit"
    assert page_of("file-missing", "anonymize") == "table"
    assert page_of("memory", "anonymize") is None


@pytest.fixture
def settled(visitor: Visitor) -> Visitor:
    """Somebody with a table and its roles."""
    assert visitor.send("hospital.csv", hospital(300, seed=5).write_csv().encode()).status == 303
    visitor.project.write_draft({"qi": ["age"], "sensitive": "diagnosis", "r": 2})
    return visitor


@pytest.mark.parametrize("page", blame.PAGES)
def test_every_field_shows_what_a_run_failed_with(settled: Visitor, page: str) -> None:
    (settled.project.folder / "release").mkdir()
    (settled.project.folder / "release" / "certificate.json").write_text("{}", "utf-8")
    run = settled.project.new_run("verify", lambda _: verify_steps("release"))
    fields = blame.CHOSEN if page == "table" else blame.PAGES[page]
    for code, field in fields.items():
        kept = {"state": "failed", "error": {"code": code, "text": "<b>Not</b> so."}}
        (run.folder / "outcome.json").write_text(json.dumps(kept), "utf-8")
        answer = settled.get(f"/{page}?failed={run.name}")
        assert answer.status == 200
        assert f'id="wrong-{field}"' in answer.text, code
        assert "&lt;b&gt;Not&lt;/b&gt; so." in answer.text


def test_what_a_run_failed_with_is_said_beside_its_field(settled: Visitor) -> None:
    """The audit of a file without the key that was named."""
    (settled.project.folder / "other.csv").write_text("age,diagnosis\n30,flu\n", "utf-8")
    settled.post("/audit", {"released": "other.csv", "key": "patient"})
    run = settled.project.runs()[-1]
    run.wait()
    assert run.error is not None
    assert run.error["code"] == "key-missing"
    page = settled.get(f"/runs/{run.name}").text
    assert f'href="/audit?failed={run.name}"' in page
    mended = settled.get(f"/audit?failed={run.name}")
    assert mended.status == 200
    assert 'id="wrong-key"' in mended.text
    assert run.error["code"] in mended.text


def test_a_run_that_is_not_there_is_told_as_everywhere(settled: Visitor) -> None:
    assert settled.get("/roles?failed=0099").status == 404
    assert settled.get("/roles?failed=../../x").status == 404
