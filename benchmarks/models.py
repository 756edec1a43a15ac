"""Models of all attributes on Adult: how good they are, and what they make of a release that was
made without them and of one that was made with them."""

from __future__ import annotations

from typing import Any

from benchmarks.clock import timed
from benchmarks.settings import adult_frame, adult_spec
from benchmarks.stages import Say
from shoal.auditing.audit import audit
from shoal.data.table import Table
from shoal.knowledge import Knowledge
from shoal.knowledge.models import fit_model
from shoal.methods.art import Art

MODELS = ("boosting", "logistic", "kernel")
R = 5.0
MOST_LOST = 0.05


def measure_models(say: Say) -> list[dict[str, Any]]:
    """One line per model, at r = 5 with the honest limit."""
    frame, lines = adult_frame(), []
    assert frame is not None
    table = Table.from_frame(frame, adult_spec(r=R, limit="prior"))
    known = Knowledge.of(table)
    plain = Art(knowledge=known, max_suppression=MOST_LOST).anonymize(table, seed=0)
    for name in MODELS:
        fitted, fitting = timed(lambda: fit_model(table, name))  # noqa: B023
        informed = known + fitted
        method = Art(knowledge=informed, max_suppression=MOST_LOST)
        grouping, searching = timed(lambda: method.anonymize(table, seed=0))  # noqa: B023
        found = [
            audit(table, some, knowledge=informed, adversary=["joint", "binary"])
            for some in (plain, grouping)
        ]
        (quality,) = fitted.models[0].quality
        line = {
            "model": name,
            "r": R,
            "auc": quality.auc,
            "calibration": quality.calibration,
            "linked_without": found[0].problematic,
            "linked_with": found[1].problematic,
            "suppressed": table.carriers - grouping.carriers(table),
            "carriers": table.carriers,
            "fit_seconds": round(fitting, 1),
            "search_seconds": round(searching, 1),
        }
        say(f"  {line}")
        lines.append(line)
    return lines
