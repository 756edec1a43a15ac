"""The page of what only people can say: kept in the project, and in the evidence of its runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.workbench.held import key_of
from shoal.workbench.project.context import TEXTS
from tests.workbench.visitor import Visitor, workbench


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    with workbench(Path(tmp_path_factory.mktemp("context") / "p")) as opened:
        opened.enter()
        yield opened


def test_every_field_is_kept_and_shown(visitor: Visitor) -> None:
    told = {name: f"ValueLine of {name}" for name in TEXTS if name != "expiry"}
    fields = [*told.items(), ("expiry", "2030-12-31")]
    fields += [("intrusion-who", "Two students"), ("intrusion-who", ""), ("intrusion-who", "I")]
    for name in ("means", "tried", "result"):
        fields += [(f"intrusion-{name}", text) for text in (f"Their {name}", "", "")]
    page = visitor.follow("/context", fields)
    context = visitor.project.context
    assert all(getattr(context, name) == text for name, text in told.items())
    assert [(one.who, one.means) for one in context.intrusions] == [
        ("Two students", "Their means"),
        ("I", ""),
    ]
    for said in (*told.values(), "2030-12-31", "Two students", "Their result"):
        assert said in page.text
    visitor.follow("/context", [(name, "") for name in TEXTS])
    assert visitor.project.context.stated == {}


def test_what_cannot_be_kept_is_said_beside_its_field_and_stays_typed(visitor: Visitor) -> None:
    answer = visitor.post("/context", [("expiry", "soon"), ("controller", "Hospital <X>")])
    assert answer.status == 422
    assert "context-date" in answer.words
    assert 'id="wrong-expiry"' in answer.text
    assert "Hospital &lt;X&gt;" in answer.text
    assert visitor.project.context.stated == {}


def test_reasons_that_shoal_proposed_are_confirmed_by_ticking_them(visitor: Visitor) -> None:
    guesses = {"age": "its name says so", "ward": "many values"}
    visitor.project.set_reasons({**guesses, "ward": "typed"}, guesses=guesses)
    page = visitor.get("/context")
    assert "its name says so" in page.words
    assert "many values" not in page.words
    page = visitor.follow("/context", [("confirm", key_of("age"))])
    assert visitor.project.context.confirmed == {"age": "its name says so"}
    assert "checked" in page.text
    visitor.follow("/context", [("controller", "")])
    assert not visitor.project.context.confirmed
