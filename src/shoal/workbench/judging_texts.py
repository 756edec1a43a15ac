"""Texts of the pages that plan, run, judge and decide."""

from __future__ import annotations

JUDGING = {
    "decision.approved": "approved",
    "decision.refused": "refused",
}
