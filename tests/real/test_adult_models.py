"""Models as knowledge on Adult: what they find in groups made without them, and in groups made
with them."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal
from shoal.data.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE, adult
from shoal.knowledge import Knowledge

pytestmark = pytest.mark.data


@pytest.mark.parametrize(
    ("model", "auc"), [("kernel", 0.77), ("logistic", 0.82), ("boosting", 0.82)]
)
def test_a_model_finds_people_unless_groups_answer_it(
    adult_path: Path, model: str, auc: float
) -> None:
    if model != "kernel":
        pytest.importorskip("sklearn")
    spec = shoal.Spec(
        qi=ADULT_QI[:5], sensitive=ADULT_SENSITIVE, protect=[ADULT_EVENT], r=5, limit="prior"
    )
    table = shoal.Table.from_frame(adult(adult_path), spec)
    known = Knowledge.of(table, model=model)
    (quality,) = known.models[0].quality
    assert (quality.auc or 0) > auc
    assert quality.calibration < 0.02
    without = shoal.anonymize(table)
    assert without.robust
    found = shoal.audit(table, without.row_groups, knowledge=known)
    assert found.robust is False
    # Labels do not say that a group's values are pooled, so other views may find a few people.
    worst = max(found.by_view, key=lambda name: found.by_view[name].problematic)
    assert worst == f"model {model}"
    # In one draw of four one case finds no group that answers boosting too.
    release = shoal.anonymize(table, knowledge=known, seed=2)
    assert release.robust
    assert release.certificate["rows"]["suppressed"] == 0
    assert release.certificate["knowledge"]["models"][0]["name"] == model
