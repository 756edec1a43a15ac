"""What a report says of numbers that are known in quantile bands, and of what no view knows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.release.facts.contents import audit_facts
from shoal.report.sentences import assumptions

ROWS = 1_000


def told(**asked: object) -> str:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "income": rng.integers(0, 700, ROWS),
            "town": [f"t{number % 50}" for number in range(ROWS)],
            "value": rng.choice(["ill", "well"], ROWS),
        }
    )
    spec = Spec(qi=["income", "town"], sensitive="value", protect=["ill"], r=2, min_support=100)
    spec = spec.with_(**asked)
    table = Table.from_frame(frame, spec)
    judged = shoal.audit(table, np.arange(ROWS) // 100)
    return " ".join(words for _, words in assumptions(audit_facts(judged, table)))


@pytest.mark.parametrize(
    ("asked", "banded", "unseen"),
    [
        ({}, True, ["town"]),
        ({"rare_unknown": ("income",)}, False, ["income", "town"]),
        ({"views": (("income/q4",),)}, True, []),
    ],
)
def test_bands_and_what_no_view_knows_are_named(
    asked: dict[str, object], banded: bool, unseen: list[str]
) -> None:
    words = told(**asked).replace("\u2068", "").replace("\u2069", "")
    assert ("bands of about as many people each" in words) is banded
    assert ("they know nothing" in words) is bool(unseen)
    if unseen:
        assert f"By {' and '.join(unseen)} they know nothing: no value has 100 people." in words
