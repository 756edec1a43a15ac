"""Undo after every kind of change that a page makes, and two pages that say different things."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.data.datasets import hospital
from shoal.workbench.held import key_of
from shoal.workbench.project import Project, Run
from shoal.workbench.project.files import write_json
from shoal.workbench.texts import TEXTS
from tests.workbench.test_roles import change, fields, of
from tests.workbench.visitor import Answer, Visitor, workbench

OTHER = "name,illness\nA,flu\nB,HIV\n"


@pytest.fixture
def asked(visitor: Visitor) -> Visitor:
    """A visitor whose table is the hospital's."""
    content = hospital(300, seed=5).write_csv().encode()
    assert visitor.send("hospital.csv", content).status == 303
    (visitor.project.folder / "other.csv").write_text(OTHER)
    return visitor


def held(project: Project) -> dict[str, bytes]:
    return {name: (project.folder / name).read_bytes() for name in ("spec.toml", "project.toml")}


def add_event(visitor: Visitor) -> Answer:
    key = key_of("diagnosis")
    return change(visitor, do=f"add:{key}", **{f"tick-{key}": [key_of("flu")], f"label-{key}": "x"})


def use_setting(visitor: Visitor) -> Answer:
    run = visitor.project.new_run("find", lambda _: [["find", "hospital.csv"]])
    line = {"changes": ["r = 2"], "robust": True, "spec": {**visitor.project.draft, "r": 2}}
    write_json(run.folder / "found.json", {"tried": [line]})
    return visitor.post("/find/use", {"run": run.name, "setting": "r = 2"})


CHANGES: dict[str, Callable[[Visitor], Answer]] = {
    "role": lambda v: change(v, **{of("role", "age"): "unpublished"}),
    "sensitive column": lambda v: change(
        v, **{of("role", "diagnosis"): "unpublished", of("role", "ward"): "sensitive"}
    ),
    "many roles": lambda v: change(
        v, do="bulk", pick=[key_of("age"), key_of("sex")], **{"bulk-role": "identifier"}
    ),
    "reason": lambda v: change(v, **{of("reason", "age"): "Neighbours know it."}),
    "bands": lambda v: change(v, **{of("band", "age"): "5"}),
    "recoding": lambda v: change(v, **{of("recode", "age"): "bands=10"}),
    "coarser values": lambda v: v.post("/coarser", {"column": key_of("age"), "recipe": "bands=10"}),
    "event": lambda v: change(
        v, do=f"add:{key_of('diagnosis')}", **{f"entry-{key_of('diagnosis')}": "H*"}
    ),
    "label": lambda v: change(v, **{"event-label-0": "grave"}),
    "event removed": lambda v: change(v, do="remove:0"),
    "events removed": lambda v: change(v, do="clear"),
    "r": lambda v: change(v, r="3"),
    "views": lambda v: change(v, views="age, sex\nregion"),
    "statement": lambda v: v.post("/context", {"purpose": "Research"}),
    "file": lambda v: v.post("/table/choose", {"path": "other.csv"}),
    "upload": lambda v: v.send("hospital.csv", OTHER.encode()),
    "r of the plan": lambda v: v.post("/plan/choose", {"r": "7"}),
    "r of the run": lambda v: v.post("/run", {"r": "2", "limit": "prior", "readers": "joint"}),
    "setting": use_setting,
}


@pytest.mark.parametrize("make", CHANGES.values(), ids=CHANGES)
def test_every_change_is_undone_and_redone(
    asked: Visitor, monkeypatch: pytest.MonkeyPatch, make: Callable[[Visitor], Answer]
) -> None:
    monkeypatch.setattr(Run, "start", lambda run: None)
    if not asked.project.draft.get("protect"):
        add_event(asked)
    before = held(asked.project)
    assert make(asked).status == 303
    after = held(asked.project)
    assert after != before
    steps = 0
    while held(asked.project) != before:
        said = asked.follow("/changes/undo", {"back": "roles"})
        assert re.search(r"Undone: .+\.", said.words)
        assert "how the file is written" not in said.words
        steps += 1
    assert steps <= 2
    for _ in range(steps):
        assert "Done again: " in asked.follow("/changes/redo", {"back": "roles"}).words
    assert held(asked.project) == after


def test_an_address_that_names_no_state_says_nothing(asked: Visitor) -> None:
    assert asked.get("/table?undone=99999").status == 200


def test_a_proposal_in_place_of_all_that_was_typed_is_undone(asked: Visitor) -> None:
    change(asked, **{of("role", "sex"): "unpublished", of("reason", "age"): "Neighbours know it."})
    add_event(asked)
    before = held(asked.project)
    said = change(asked, do="propose")
    assert held(asked.project) != before
    assert "Undo takes it back." in asked.get(said.headers["location"]).words
    asked.follow("/changes/undo", {"back": "roles"})
    assert held(asked.project) == before


def test_undo_outlives_the_server(tmp_path: Path) -> None:
    with workbench(tmp_path / "p") as one:
        one.enter()
        one.send("hospital.csv", hospital(300, seed=5).write_csv().encode())
        before = held(one.project)
        change(one, r="3")
    with workbench(tmp_path / "p") as again:
        again.enter()
        said = again.follow("/changes/undo", {"back": "roles"})
        assert "Undone: r." in said.words
        assert held(again.project) == before


def test_nothing_to_undo_is_said(visitor: Visitor) -> None:
    assert visitor.get("/").text.count("disabled") == 2
    for what in ("undo", "redo"):
        answer = visitor.post(f"/changes/{what}")
        assert (answer.status, f"There is nothing to {what}." in answer.words) == (422, True)
    for number in ("0", "99", "x", ""):
        assert visitor.post("/changes/put", {"state": number}).status == 422


def test_any_state_is_put_back(asked: Visitor) -> None:
    begun = asked.project.draft["r"]
    for r in ("3", "4"):
        change(asked, r=r)
    page = asked.get("/changes")
    assert page.words.count("Put back") >= 3
    number = next(
        one.number
        for one in asked.project.journal.states()
        if f"r = {begun}" in (one.files["spec.toml"] or "")
    )
    said = asked.follow("/changes/put", {"state": str(number), "back": "changes"})
    assert "Put back as it was after: " in said.words
    assert asked.project.draft["r"] == begun


def test_events_come_back_with_their_column(asked: Visitor) -> None:
    add_event(asked)
    kept = asked.project.draft["protect"]
    assert kept
    for role in ("identifier", "qi", "unpublished"):
        change(asked, **{of("role", "diagnosis"): role})
        assert "protect" not in asked.project.draft
    change(asked, **{of("role", "ward"): "sensitive"})
    assert "protect" not in asked.project.draft
    change(asked, **{of("role", "ward"): "unpublished", of("role", "diagnosis"): "sensitive"})
    assert asked.project.draft["protect"] == kept
    change(asked, do="clear")
    change(asked, **{of("role", "diagnosis"): "unpublished"})
    change(asked, **{of("role", "diagnosis"): "sensitive"})
    assert "protect" not in asked.project.draft


def stale(visitor: Visitor, **first: Any) -> Answer:
    """Two pages of roles: the first changes something, and then the second sets r to 3."""
    pages = [dict(fields(visitor.get("/roles"))) for _ in range(2)]
    assert visitor.post("/roles", pages[0] | first).status == 303
    return visitor.post("/roles", pages[1] | {"r": "3"})


def test_two_pages_show_both_versions_and_one_is_chosen(asked: Visitor) -> None:
    r = asked.project.draft["r"]
    answer = stale(asked, **{of("role", "region"): "unpublished"})
    assert answer.status == 422
    assert '<form method="post" action="/roles"' not in answer.text  # no role that is not kept
    known, left = TEXTS["role.qi"], "–"
    assert f"Role of region {left} {known}" in answer.words
    assert f"r {r} 3" in answer.words
    assert asked.project.draft["r"] == r
    number = re.search(r'name="state" value="(\d+)"', answer.text)
    assert number is not None
    back = asked.follow("/changes/put", {"state": number[1], "back": "roles"})
    assert back.status == 200
    assert (asked.project.draft["r"], "region" in asked.project.draft["qi"]) == (3, True)
    asked.follow("/changes/undo", {"back": "roles"})
    assert (asked.project.draft["r"], "region" in asked.project.draft["qi"]) == (r, False)


def test_what_does_not_touch_the_roles_is_no_conflict(asked: Visitor) -> None:
    page = dict(fields(asked.get("/roles")))
    asked.project.state(purpose="Research")
    assert asked.post("/roles", page | {"r": "3"}).status == 303
    assert asked.project.statement == {"purpose": "Research"}


def test_two_pages_of_statements(asked: Visitor) -> None:
    def version() -> str:
        found = re.search(r'name="version" value="(\d+)"', asked.get("/context").text)
        assert found is not None
        return found[1]

    one, two = version(), version()
    assert asked.post("/context", {"version": one, "purpose": "Research"}).status == 303
    answer = asked.post("/context", {"version": two, "purpose": "Teaching", "reviewer": "A"})
    assert answer.status == 422
    assert "Purpose of the release Research Teaching" in answer.words
    assert asked.project.statement == {"purpose": "Research"}
    number = re.search(r'name="state" value="(\d+)"', answer.text)
    assert number is not None
    asked.follow("/changes/put", {"state": number[1]})
    assert asked.project.statement == {"purpose": "Teaching", "reviewer": "A"}


def test_what_is_refused_stays_as_it_was_typed(asked: Visitor) -> None:
    role, reason = of("role", "sex"), of("reason", "sex")
    typed = {role: "unpublished", reason: "Nobody asks.", of("recode", "age"): "bands=x"}
    answer = change(asked, **typed)
    assert answer.status == 422
    assert TEXTS["roles.refused"] in answer.words
    assert TEXTS["roles.saved"] not in answer.words
    shown = dict(fields(answer))
    assert {name: shown[name] for name in typed} == typed
    mended = asked.post("/roles", shown | {of("recode", "age"): "bands=10"})
    assert mended.status == 303
    assert "sex" not in asked.project.draft["qi"]
    assert asked.project.reasons["sex"] == "Nobody asks."


def test_a_fault_keeps_what_was_typed(asked: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Project, "keep", full)
    answer = asked.post("/context", {"purpose": "Research on care"})
    assert answer.status == 500
    assert "What you typed Research on care" in answer.words
