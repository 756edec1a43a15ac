"""Hostile values stay text, and the page's policy admits nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.table import Table
from shoal.release import facts as recorded
from shoal.release.facts.contents import Facts
from shoal.report import page as report
from shoal.report.page import script_json
from shoal.report.public import command_line
from tests.report.page import Page

HOSTILE = (
    "</script><script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    '=HYPERLINK("http://example.org","x")',
    "a\u202eb\u2066c\u200f",
    "line\u2028break\u2029\x00",
    "{{ 7 * 7 }}",
    "-->]]>&amp;",
)


@pytest.fixture(scope="module")
def hostile() -> str:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "<b>QI</b>": rng.choice(HOSTILE, 300),
            "x": rng.integers(0, 3, 300),
            "</style>": rng.choice(HOSTILE, 300, p=[0.1, 0.3, 0.2, 0.1, 0.1, 0.1, 0.1]),
        }
    )
    spec = shoal.Spec(qi=("<b>QI</b>", "x"), sensitive="</style>", r=4, min_support=20)
    table = Table.from_frame(frame, spec)
    audit = shoal.audit(table, [HOSTILE[n % 7] + str(n // 7) for n in range(300)])
    command = command_line(["audit", "</pre><script>alert(2)</script>"])
    return report.render_audit(audit, table, repeat=recorded.Repeat(command=command))


def test_hostile_values_are_text(hostile: str) -> None:
    page = Page(hostile)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert "img" not in [tag for tag, _ in page.tags]
    assert [tag for tag, _ in page.tags].count("style") == 1
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")]
    assert "<img src=x onerror=" in page.text
    assert "</script><script>alert(1)</script>" in page.text
    assert '=HYPERLINK("http://example.org","x")' in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩" in page.text
    assert not re.search("[\x00\u202a-\u202e\u2066\u2067\u200f\u2028\u2029]", hostile)


def test_hostile_chart_data_is_json_that_ends_nothing(hostile: str) -> None:
    page = Page(hostile)
    data = next(text for text in page.scripts if text.startswith("{"))
    assert not re.search("[<>&\u2028\u2029]", data)
    labels = {line["label"] for line in json.loads(data)["column-0"]["data"]["values"]}
    assert '<img src=x onerror="ale…' in labels


def test_script_json_survives_a_round_trip() -> None:
    data = {"a": list(HOSTILE)}
    text = script_json(data)
    assert json.loads(text) == data
    assert not set("<>&\u2028\u2029") & set(text)


def test_the_policy_admits_one_script_and_no_address(facts: Facts) -> None:
    page = Page(report.render(facts))
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv")) or ""
    code = next(text for text in page.scripts if not text.startswith("{"))
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert not re.search("https?:", policy)
    for _, attributes in page.tags:
        assert not {"src", "href", "srcset", "action", "data"} & set(attributes)
    style = re.search("<style>(.*?)</style>", report.render(facts), re.S)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]
