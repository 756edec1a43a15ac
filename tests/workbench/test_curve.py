"""The curve of a plan: a chart of the report's kind, drawn for pages with a strict policy."""

from __future__ import annotations

import re
from html import unescape
from importlib.resources import files
from typing import Any

import pytest

from shoal.report.charts.plan import LEAST_SHARE, plan_chart
from shoal.report.page import drawing
from shoal.workbench.rendering import drawn
from tests.workbench.visitor import Visitor

POINTS = [{"r": float(r), "lost_share": share} for r, share in ((2, 0.0), (5, 0.02), (20, 0.6))]


def chart(points: Any = POINTS, **changed: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "chosen": 5.0, "chosen_label": "chosen", "largest": 4.5, "largest_label": "most <here>",
        "across": "r",
    }  # fmt: skip
    return plan_chart(points, **(told | changed))


def axes(made: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    line = next(one for one in made["layer"] if one["mark"]["type"] == "line")
    return line["encoding"]["x"], line["encoding"]["y"]


def test_it_holds_every_r_the_chosen_one_and_the_largest() -> None:
    made = chart()
    assert [(one["r"], one["share"]) for one in made["data"]["values"]] == [
        (one["r"], one["lost_share"]) for one in POINTS
    ]
    assert [one["chosen"] for one in made["data"]["values"]] == [False, True, False]
    marks = [one["data"]["values"][0] for one in made["layer"] if one["mark"]["type"] == "rule"]
    assert [one["r"] for one in marks] == [5.0, 4.5]
    x, y = axes(made)
    assert (x["scale"]["domain"], x["axis"]["values"]) == ([2, 20], [2, 5, 20])
    assert y["scale"]["domain"] == [0, 0.6]


@pytest.mark.parametrize(("largest", "span"), [(None, [2, 7]), (1.0, [1, 7]), (300.0, [2, 300])])
def test_it_reaches_as_far_as_what_it_marks(largest: float | None, span: list[float]) -> None:
    made = chart(POINTS[:1], chosen=7.0, largest=largest)
    x, y = axes(made)
    assert x["scale"]["domain"] == span
    assert y["scale"]["domain"] == [0, LEAST_SHARE]
    labels = [one for one in made["layer"] if one["mark"]["type"] == "text"]
    assert len(labels) == (1 if largest is None else 2)
    assert "<svg" in drawn("any", made)["narrow"]


def test_a_drawing_needs_no_style_of_its_own() -> None:
    drawing = drawn("any", chart())["wide"]
    assert re.search(r'<svg[^>]* viewBox="0 0 720 ', drawing)
    assert not re.search(r"\sstyle=|<style|<script|\son\w+=|href=", drawing)
    texts = [unescape(one) for one in re.findall(r"<text[^>]*>([^<]*)</text>", drawing)]
    assert {"chosen", "most <here>", "2", "5", "20", "r"} <= set(texts)
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', drawing)) - {"none", "transparent"}
    sheet = (files("shoal.report") / "templates" / "page.css").read_text("utf-8")
    assert colours
    for colour in colours:
        variable = re.fullmatch(r"var\((--\w+)\)", colour)
        assert variable is not None, colour
        assert sheet.count(f"{variable[1]}:") >= 2, "light and dark"


def test_the_same_chart_is_drawn_once() -> None:
    first, again = chart(chosen=11.0), chart(chosen=11.0)
    assert drawing("once", first) is drawing("once", again)
    assert drawing("once", first) is not drawing("once", first, width=340)


def test_there_is_no_curve_before_a_plan(visitor: Visitor) -> None:
    visitor.send("table.csv", b"age,diagnosis\n1,HIV\n2,flu\n")
    visitor.project.write_draft({"qi": ["age"], "sensitive": "diagnosis", "r": 2})
    assert visitor.get("/plan/curve").status == 204
    assert "/plan/curve" not in visitor.get("/plan").text
