"""Hostile tables and hostile statements stay text in an evidence file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl

from shoal.workbench.evidence import evidence_page, gather
from shoal.workbench.project import Project, Source
from tests.report.page import Page
from tests.report.test_hostile import HOSTILE
from tests.workbench.project.making import new_release, work_off


def test_hostile_texts_break_out_of_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    folder = tmp_path / "p"
    project = Project.open(folder, create=True)
    texts = [text.replace("\x00", "") for text in HOSTILE]
    pl.DataFrame(
        {
            "<b>QI</b>": rng.choice(texts, 300),
            "x": rng.integers(0, 3, 300),
            "</style>": rng.choice(texts, 300),
        }
    ).write_parquet(folder / "table.parquet")
    project.set_source(Source("table.parquet"))
    project.write_draft({"qi": ["<b>QI</b>", "x"], "sensitive": "</style>", "r": 2})
    bad = "".join(texts) * 20
    project.state(purpose=bad, recipient=bad, release_model=bad)
    project.set_reasons({"x": bad, "<i>y</i>": bad})
    run = work_off(new_release(project, method="anatomy", parameters={"l": 3}, seed=1))
    run.decide("refused", name=bad, reason=bad)
    html = evidence_page(gather(run.folder))
    page = Page(html)
    tags = [tag for tag, _ in page.tags]
    assert not {"script", "img", "i", "iframe", "a"} & set(tags)
    assert tags.count("style") == 1
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")]
        assert not {"src", "href", "srcset", "action", "data"} & set(attributes)
    assert "</script><script>alert(1)</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert not re.search("[\x00\u202a-\u202e\u2066\u2067\u200f\u2028\u2029]", html)
    policy = next(a["content"] for _, a in page.tags if a.get("http-equiv")) or ""
    assert policy.startswith("default-src 'none';")
    assert "script-src" not in policy
