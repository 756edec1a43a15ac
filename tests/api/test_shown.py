"""Objects show themselves: a few lines as text, a card without scripts in a notebook."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import Event, Knowledge, Spec, Table
from shoal.data.datasets import hospital
from shoal.display import risk_histogram
from shoal.release.utility import Workload

HOSTILE = "<script>alert(1)</script>\n\u202e'\""
FRAME = hospital(600, seed=3).with_columns(
    pl.col("diagnosis").replace("HIV", HOSTILE), pl.col("sex").alias(HOSTILE)
)
SPEC = Spec(
    qi=("region", HOSTILE),
    sensitive="diagnosis",
    protect=[Event((HOSTILE, "Schizophrenia"), r=3), Event(("Asthma",), r=4)],
    r=2,
    min_support=30,
)


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("shown")
    table = Table.from_frame(FRAME, SPEC)
    release = shoal.anonymize(table)
    release.save(folder / "release")
    loaded = shoal.Release.load(folder / "release")
    audit = shoal.audit(table, [HOSTILE + str(row // 3) for row in range(600)])
    released = {HOSTILE: FRAME, "short": FRAME.head(3)}
    methods = ["anatomy", "mask", "injector", "mondrian"]
    workload = Workload(queries=50, selectivity=0.2)
    return {
        "table": table,
        "spec": SPEC,
        "knowledge": Knowledge.of(table),
        "grouping": shoal.Grouping.of_rows(table, np.arange(600, dtype=np.int32) // 3),
        "audit": audit,
        "release": release,
        "loaded": loaded,
        "unjudged": replace(release, certificate={}, run=None),
        "comparison": shoal.compare(table, methods=methods, released=released, workload=workload),
        "plan": shoal.plan(table),
        "far": shoal.plan(FRAME, SPEC.with_(protect=None, r=50)),
        "verification": shoal.verify(folder / "release", FRAME),
        "refuted": shoal.verify(folder / "release", spec=SPEC.with_(r=9)),
    }


NAMES = [
    "table",
    "spec",
    "knowledge",
    "grouping",
    "audit",
    "release",
    "loaded",
    "unjudged",
    "comparison",
    "plan",
    "far",
    "verification",
    "refuted",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_repr_is_a_few_printable_lines(objects: dict[str, Any], name: str) -> None:
    text = repr(objects[name])
    lines = text.split("\n")
    assert 1 <= len(lines) <= 7
    assert all(line.isprintable() and len(line) < 400 for line in lines), text
    for dump in ("array(", "shape:", "DataFrame", "┌", "object at"):
        assert dump not in text


def test_reprs_say_what_matters(objects: dict[str, Any]) -> None:
    assert repr(objects["table"]).startswith("Table: 600 rows, ")
    assert repr(objects["grouping"]).startswith("Grouping: 600 people in 200 groups of 3\n")
    assert repr(objects["audit"]).startswith("Audit: not robust at r = 3 to 4\n")
    assert f"{objects['audit'].problematic:,} people" in repr(objects["audit"])
    for name in ("release", "loaded"):
        assert repr(objects[name]).startswith("Release by art, bucketized: robust at r = 3 to 4\n")
    assert "and 2 more" in repr(objects["comparison"])
    assert repr(objects["plan"]).startswith("Plan: nobody is ruled out at the asked r; ")
    assert repr(objects["far"]).startswith("Plan: not everybody can be protected at the asked r; ")
    assert repr(objects["verification"]).startswith(
        "Verification: confirmed (every probability recom"
    )
    assert "wrong: what was asked for: r is 2.0, not 9.0" in repr(objects["refuted"])
    assert "min_support=30" in repr(SPEC)
    assert "identifiers" not in repr(SPEC)


def test_a_spec_reads_back_what_it_shows() -> None:
    assert eval(repr(SPEC), {"Spec": Spec, "Event": Event}) == SPEC


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("audit", True),
        ("release", True),
        ("loaded", False),
        ("unjudged", False),
        ("comparison", False),
        ("verification", False),
        ("refuted", False),
    ],
)
def test_a_card_is_whole_and_holds_no_script(
    objects: dict[str, Any], name: str, drawn: bool
) -> None:
    html = objects[name]._repr_html_()
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    assert ("svg" in tags.seen) == drawn
    assert tags.seen <= {
        "div",
        "p",
        "strong",
        "table",
        "tr",
        "th",
        "td",
        "svg",
        "rect",
        "title",
        "line",
        "text",
    }
    assert "\n" not in html.replace(HOSTILE, "")


def test_the_histogram_counts_everybody(objects: dict[str, Any]) -> None:
    for audit in (objects["audit"], objects["release"].audit):
        drawing = audit.histogram()
        counts = [int(n.replace(",", "")) for n in re.findall(r"<title>([\d,]+) p", drawing)]
        assert sum(counts) == audit.published
        over = re.findall(r'fill="#b8402a"><title>([\d,]+) p', drawing)
        assert sum(int(n.replace(",", "")) for n in over) == audit.problematic


def test_a_breach_by_a_hair_is_drawn_above_the_limit() -> None:
    exposure, people = np.array([1.0 + 1e-15, 1.0]), np.array([3, 5])
    drawing = risk_histogram(exposure, people, np.array([True, False]))
    assert 'fill="#b8402a"><title>3 people, 1 to 1.01 times the limit' in drawing
    assert "<title>5 people, 0.9 to 1 times the limit" in drawing
    assert "<title>1 person, 0 to 0.1 " in risk_histogram(
        np.zeros(1), np.ones(1, np.int64), np.zeros(1, bool)
    )
