"""A run in one line: what was asked for, and what came of it."""

from __future__ import annotations

from typing import Any

from shoal.workbench.project.run import Run, option_of


def summary(run: Run) -> dict[str, Any]:
    """What the list of all runs says of one. `robust` is None where no verdict could be reached,
    and `judged` says whether one was asked for."""
    made, state = run.made, run.state
    found = (run.result(1) if state == "done" else None) or {}
    checked = run.result("verify") or {}
    return {
        "run": run.name,
        "kind": made["kind"],
        "title": made.get("title", ""),
        "made": made["made"],
        "state": state,
        "r": made["spec"].get("r") if made["kind"] in ("anonymize", "audit") else None,
        "method": option_of(run.steps[0], "method"),
        "judged": "robust" in found,
        "robust": run.robust,
        "confirmed": checked.get("confirmed"),
        "decision": run.decision,
    }
