"""A table whose every value can be found again in a report."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl

import shoal
from shoal.data.table import Table
from tests.report.page import Page

ROWS = 240


def marked() -> pl.DataFrame:
    """A table whose QI cells, identifier and one sensitive value each belong to one person."""
    rng = np.random.default_rng(5)
    sick = rng.choice(["flu", "cold", "cough", "HIV"], ROWS, p=[0.4, 0.3, 0.2, 0.1])
    return pl.DataFrame(
        {
            "town": [f"TOWN-MARK-{n:03d}-X" for n in range(ROWS)],
            "salary": [71_300_000 + 137 * n for n in range(ROWS)],
            "sex": rng.choice(["SEX-MARK-F", "SEX-MARK-M"], ROWS),
            "name": [f"NAME-MARK-{n}" for n in range(ROWS)],
            "sick": ["RARE-DIAGNOSIS", *sick[1:].tolist()],
        }
    )


def marks() -> list[str]:
    """Every text that belongs to rows of that table."""
    frame = marked()
    numbers = [str(n) for n in frame["salary"]] + [f"{n:,}" for n in frame["salary"]]
    return [*frame["town"], *frame["sex"].unique(), *frame["name"], *numbers, "RARE-DIAGNOSIS"]


def marked_table(**changes: Any) -> Table:
    spec = shoal.Spec(
        qi=("town", "salary", "sex"),
        sensitive="sick",
        protect=("HIV",),
        r=3,
        min_support=40,
        rare_unknown=("town",),
        identifiers=("name",),
    )
    return Table.from_frame(marked(), spec.with_(**changes))


def assert_nothing_of_one_person(html: str) -> None:
    for mark in marks():
        assert mark not in html
    assert "MARK" not in html[: html.index("<script>")]
    assert not re.search(r"71[,.]?3", Page(html).text)
