"""Try what would work: settings are run, shown as they end, and one becomes the draft."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from shoal.data.spec import Spec
from shoal.report.charts.found import found_chart
from shoal.workbench.held import key_of
from shoal.workbench.project import Run
from shoal.workbench.project.commands import FOUND
from shoal.workbench.rendering import drawn
from shoal.workbench.texts import TEXTS
from tests.planning.comparison.test_finding import telling
from tests.workbench.visitor import Visitor

DRAFT: dict[str, Any] = {
    "qi": ["tells", "town", "years"],
    "sensitive": "state",
    "protect": ["ill"],
    "r": 4,
    "min_support": 50,
}


@pytest.fixture
def asked(visitor: Visitor) -> Visitor:
    assert visitor.send("t.csv", telling().write_csv().encode()).status == 303
    visitor.project.write_draft(DRAFT)
    return visitor


def test_settings_are_tried_and_one_is_used(asked: Visitor) -> None:
    assert 'action="/find"' in asked.get("/plan").text
    answer = asked.post("/find", {"seconds": "25"})
    assert (answer.status, answer.headers["location"]) == (303, "/find")
    (run,) = asked.project.runs()
    seen = 0
    while run.state == "running":
        live = asked.get("/find/tried")
        if run.found is not None and run.state == "running":
            seen += "Choose" in live.words
        time.sleep(0.2)
    assert seen, "what was tried is shown before the run ends"
    assert run.state == "done", run.error
    told = run.result(1)
    assert told is not None
    assert told == run.found
    assert told["holding"] >= 1
    page = asked.get("/find")
    first = told["tried"][0]
    assert ", ".join(first["changes"]) in page.words
    assert page.text.count('action="/find/use"') == told["holding"]
    assert asked.get("/find/picture").text.count("<svg") == 2
    given = {"run": run.name, "setting": ", ".join(first["changes"])}
    assert asked.follow("/find/use", given).status == 200
    assert asked.project.spec() == Spec.from_mapping(first["spec"]) != Spec.from_mapping(DRAFT)
    assert asked.get("/find").text.count('action="/find/use"') == told["holding"] - 1
    assert asked.get("/runs/0001").headers["location"] == "/find"
    assert TEXTS["kind.find"] in asked.get("/runs").words


def kept(asked: Visitor, **told: Any) -> Run:
    """A search that has tried one setting."""
    from shoal.workbench.project import find_steps

    source = asked.project.source
    assert source is not None
    run = asked.project.new_run("find", lambda run: find_steps(run, source, seconds=5))
    line = {
        "changes": ["without <b>"],
        "spec": {**DRAFT, "r": 2},
        "robust": False,
        "runs": 1,
        "why": None,
        "detail_lost": 0.1,
        "seconds": 1.0,
        "suppressed": 3,
        "error": 0.2,
        "largest_chance": 0.3,
    }
    found = {"tried": [{**line, **told}], "holding": 0, "obstacle": None}
    (run.folder / FOUND).write_text(json.dumps(found), "utf-8")
    return run


def test_what_does_not_hold_cannot_be_used(asked: Visitor) -> None:
    run = kept(asked)
    page = asked.get("/find")
    assert "without <b>" in page.words or "&lt;b&gt;" in page.text
    assert 'action="/find/use"' not in page.text
    answer = asked.post("/find/use", {"run": run.name, "setting": "without <b>"})
    assert answer.status == 422
    assert asked.project.draft == DRAFT
    assert asked.get("/find/picture").status == 204


def test_after_other_changes_it_says_so_and_offers_nothing(asked: Visitor) -> None:
    run = kept(asked, robust=True)
    changed = f"The table or the roles were changed after run {run.name}: try again."
    assert 'action="/find/use"' in asked.get("/find").text
    assert changed not in asked.get("/find").words
    asked.project.write_draft({**DRAFT, "qi": ["town"]})
    assert 'action="/find/use"' not in asked.get("/find").text
    assert changed in asked.get("/find").words


def test_what_matters_is_asked_of_the_search(
    asked: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Run, "start", lambda run: None)
    field = f"importance-{key_of('years')}"
    for typed in ("0", "x", "1e9"):
        answer = asked.post("/find", {"seconds": "5", field: typed})
        assert (answer.status, 'id="wrong-importance"' in answer.text) == (422, True)
        assert f'value="{typed}"' in answer.text
    assert asked.post("/find", {"seconds": "5", field: "10"}).status == 303
    (run,) = asked.project.runs()
    assert " --importance years=10 " in run.commands()[-1]
    assert "importance={'years': 10.0}" in run.programs()[0]
    assert f'name="{field}" class="short" value="10"' in asked.get("/find").text


def test_wrong_seconds_are_refused_beside_the_field(asked: Visitor) -> None:
    for typed in ("0", "x", "1e9", "nan"):
        answer = asked.post("/find", {"seconds": typed})
        assert answer.status == 422
        assert "[find-seconds]" in answer.words
    assert asked.project.runs() == []


@pytest.mark.parametrize(("chance", "anchor"), [(0.2, "start"), (1.0, "end")])
def test_a_label_of_the_picture_stays_inside(chance: float, anchor: str) -> None:
    one = {"words": "as asked", "largest_chance": chance, "error": 0.1, "robust": False}
    for picture in drawn("found", found_chart([one | {"address": "http://127.0.0.1/"}])).values():
        (found,) = re.findall(r'<text[^>]*text-anchor="(\w+)"[^>]*>as asked', picture)
        assert found == anchor
