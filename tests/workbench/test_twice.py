"""A form that is sent twice makes one run."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from shoal.data.datasets import hospital
from shoal.workbench.project import Run
from tests.workbench.visitor import Visitor


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/plan", {"curve": "2, 3"}),
        ("/find", {"seconds": "5"}),
        ("/run", {"readers": "joint"}),
        ("/audit", {"groups": "region"}),
    ],
)
def test_a_button_pressed_three_times(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, path: str, form: dict[str, str]
) -> None:
    monkeypatch.setattr(Run, "start", lambda run: None)
    assert visitor.send("hospital.csv", hospital(300, seed=5).write_csv().encode()).status == 303
    visitor.project.write_draft({"qi": ["age"], "sensitive": "diagnosis", "r": 2})

    def number() -> str:
        found = re.search(r'name="page" value="([\w-]+)"', visitor.get(path).text)
        assert found is not None
        return found[1]

    sent = {**form, "page": number()}
    with ThreadPoolExecutor(3) as pool:
        places = {
            answer.headers["location"] for answer in pool.map(visitor.post, [path] * 3, [sent] * 3)
        }
    assert len(places) == len(visitor.project.runs()) == 1
    assert visitor.post(path, {**form, "page": number()}).status == 303
    assert len(visitor.project.runs()) == 2
