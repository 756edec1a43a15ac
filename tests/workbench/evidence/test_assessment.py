"""The evidence file as an assessment: who stated what, every value, clauses, JSON, templates."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import polars as pl
import pytest

from shoal.errors import InputError
from shoal.workbench.evidence import evidence_page, gather, write_evidence
from shoal.workbench.evidence.clauses import CLAUSES, COMPUTED, answered
from shoal.workbench.evidence.record import computed, states
from shoal.workbench.evidence.statements import proposals, reason_by
from shoal.workbench.evidence.values import known_values
from shoal.workbench.project import Context, Project, Run
from shoal.workbench.project.context import INTRUSION, TEXTS, TITLES, intrusion_meanings, meanings
from tests.cli.program import refused, shoal_
from tests.report.page import Page

TEST = {
    "who": "Two students",
    "means": "Newspapers, four hours",
    "tried": "To find ten patients",
    "result": "Nobody was found",
}


def test_every_field_has_a_meaning_and_a_title() -> None:
    assert set(meanings()) == {*TEXTS, "intrusions", "confirmed"} == set(vars(Context()))
    assert set(TITLES) == {*TEXTS, "intrusions"}
    assert all(meanings().values())
    assert tuple(intrusion_meanings()) == INTRUSION


def test_who_stated_what_is_marked(run: Run, project: Project) -> None:
    facts = gather(run.folder).facts
    proposal = proposals(facts)["residual_risk"]
    empty = Page(evidence_page(gather(run.folder))).text
    assert "Residual risk proposed by shoal, NOT CONFIRMED by a person" in empty
    assert "Controller not stated" in empty
    project.state(residual_risk=proposal, controller="Hospital of X", intrusions=[TEST])
    text = Page(evidence_page(gather(run.folder))).text
    assert "Residual risk proposed by shoal, confirmed by a person" in text
    assert "Controller stated by a personHospital of X" in text
    assert all(one in text for one in TEST.values())
    project.state(residual_risk="None that matters")
    assert "Residual risk stated by a person" in Page(evidence_page(gather(run.folder))).text


def test_reasons_that_shoal_guessed_are_no_reasons_until_confirmed(
    run: Run, project: Project
) -> None:
    by = {one.name: one.by for one in gather(run.folder).columns}
    assert by == {"age": "shoal", "sex": "shoal", "region": "person", "diagnosis": "nobody"}
    project.state(confirmed={"age": "a guess", "sex": "what was guessed before"})
    by = {one.name: one.by for one in gather(run.folder).columns}
    assert (by["age"], by["sex"]) == ("confirmed", "shoal")
    assert reason_by("", "a", "a") == "nobody"


def test_values_are_concluded_as_counted_line_by_line(run: Run) -> None:
    release = run.folder / "release"
    people, sensitive = (pl.read_csv(release / f"{n}.csv") for n in ("qi", "sensitive"))
    held: dict[int, Counter[str]] = defaultdict(Counter)
    for gid, value, count in sensitive.iter_rows():
        held[gid][value] += count
    event = "HIV|Schizophrenia"
    chances: dict[str, list[dict[str, float]]] = defaultdict(list)
    for gid, *attributes, weight in people.iter_rows():
        values, size = held[gid], held[gid].total()
        case = values[event] / size if weight is None else weight
        other = sum(count for value, count in values.items() if value != event)
        chance = {v: (1 - case) * n / other for v, n in values.items() if v != event}
        chances[str(attributes)].append({**chance, event: case})
    found = known_values(release)
    assert found is not None
    values = {value for one in held.values() for value in one}
    assert {one.value for one in found} == values - {"(other)"}
    for one in found:
        by_line = [chance.get(one.value, 0.0) for lines in chances.values() for chance in lines]
        alike = [
            (len(lines), sum(chance.get(one.value, 0.0) for chance in lines) / len(lines))
            for lines in chances.values()
        ]
        assert one.people == sum(values[one.value] for values in held.values())
        assert one.protected == (one.value == event)
        assert one.by_line == pytest.approx(max(by_line), abs=1e-4)
        assert one.by_attributes == pytest.approx(max(share for _, share in alike), abs=1e-4)
        least, most = (sum(n for n, share in alike if share > 0.5 + e) for e in (1e-4, -1e-4))
        assert least <= one.likely <= most
        assert one.sure == sum(chance == 1 for chance in by_line)
    assert sum(one.sure for one in found) > 0
    assert known_values(run.folder) is None


def test_linkability_is_not_less_than_singling_out(run: Run) -> None:
    facts = gather(run.folder).facts
    assert facts.verdict.lookup is not None
    text = Page(evidence_page(gather(run.folder))).text
    unique = facts.verdict.lookup.unique
    assert f"links to one line of the release alone for {unique:,} people of 2,000" in text
    assert "This is the figure to judge by." in text


def test_clauses_say_what_they_lack(run: Run, project: Project) -> None:
    assert {name for one in CLAUSES for name in one.stated} <= set(TITLES)
    assert {name for one in CLAUSES for name in one.computed} == set(COMPUTED)
    nobody = answered(dict.fromkeys(TITLES, "nobody"), set())
    assert {one["state"].split(":")[0] for one in nobody} == {"not stated", "lacking"}
    every = answered(dict.fromkeys(TITLES, "person"), set(COMPUTED))
    assert {one["state"] for one in every} == {"answered"}
    page = Page(evidence_page(gather(run.folder)))
    sections = {attributes["id"] for tag, attributes in page.tags if tag == "section"}
    assert {one.section for one in CLAUSES} <= sections
    project.state(environment="A secure room")
    told = {one["number"]: one["state"] for one in answered_of(run)}
    assert told["6.2.2"] == "in part; not stated: safeguards"


def answered_of(run: Run) -> list[dict[str, str]]:
    evidence = gather(run.folder)
    return answered(states(evidence), computed(evidence))


def test_json_says_the_same_and_names_nobody(run: Run, tmp_path: Path) -> None:
    path = write_evidence(run.folder, tmp_path / "e.html")
    told = json.loads(path.with_suffix(".json").read_text())
    evidence = gather(run.folder)
    assert told["format"] == "shoal-assessment/1"
    assert told["findings"]["worst_posterior"] == evidence.facts.verdict.worst_posterior
    assert told["values"][0]["value"] in path.read_text()
    assert f"{told['open']['unstated']} are not stated" in Page(path.read_text()).text
    worst = evidence.facts.verdict.worst
    assert worst is not None
    assert set(told["findings"]["worst"]) == set(vars(worst)) - {
        "row", "person", "group", "adversary"
    }  # fmt: skip


def test_a_file_of_context_counts_before_the_project(
    run: Run, project: Project, tmp_path: Path
) -> None:
    project.state(controller="The project's", source="Admissions")
    file = tmp_path / "context.toml"
    file.write_text('controller = "The file\'s"\nexpiry = 2030-12-31\n[[intrusions]]\nwho = "I"\n')
    out = tmp_path / "e.html"
    done = shoal_("evidence", run.folder, "--context", file, "--out", out)
    assert done.returncode == 0, done.stderr
    text = Page(out.read_text()).text
    assert all(one in text for one in ("The file's", "Admissions", "2030-12-31"))
    assert "The project's" not in text
    for wrong, code in (
        ("colour = 'red'", "context-field"),
        ("controller = 5", "context-text"),
        ("intrusions = 'many'", "context-text"),
        ("[[intrusions]]\nwhen = 'now'", "context-intrusion"),
        ("confirmed = 'all'", "context-text"),
        ("expiry = 'soon'", "context-date"),
    ):
        file.write_text(wrong)
        refused(shoal_("evidence", run.folder, "--context", file), code)


def test_a_project_has_templates_of_its_own(run: Run, project: Project) -> None:
    folder = project.folder / "templates"
    folder.mkdir()
    try:
        template = folder / "evidence.html.j2"
        template.write_text(
            '{% extends "shoal/evidence.html.j2" %}'
            "{% block head %}<h1>Office of {{ run.name }}, {{ '<b>' }}</h1>{% endblock %}"
        )
        text = evidence_page(gather(run.folder))
        assert "<h1>Office of 0001, &lt;b&gt;</h1>" in text
        assert "Clause by clause" in text
        assert "with a template of the project" in text
        for wrong in (
            "{{ nothing }}",
            "{% if %}",
            "{{ ''.__class__.__mro__ }}",
            '{% include "../project.toml" %}',
        ):
            template.write_text(wrong)
            with pytest.raises(InputError) as told:
                evidence_page(gather(run.folder))
            assert told.value.code == "evidence-template", wrong
    finally:
        template.unlink()
        folder.rmdir()
