"""Compare: runs side by side, with what differs marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from shoal.auditing.checks import Check, largest_chance, most_people, nearest_link
from shoal.plain import typed
from shoal.wording import percent, verdict_words
from shoal.workbench.bench import Visit, go
from shoal.workbench.project import Run
from shoal.workbench.rendering import duration

MOST = 6
Figures = dict[str, Any]


def show(visit: Visit) -> Response:
    given = ",".join(visit.request.query_params.getlist("runs"))
    names = list(dict.fromkeys(name for name in given.split(",") if name))[:MOST]
    if not names:
        return go("/runs")
    runs = [visit.project.run(name) for name in names]
    columns = [figures for run in runs if (figures := _figures(run)) is not None]
    lines = []
    for label, shown in LINES.items():
        cells = [shown(figures) for figures in columns]
        lines.append((label, cells, len(set(cells)) > 1))
    return visit.page(
        "compare",
        runs=[figures["run"] for figures in columns],
        lines=lines,
        missing=len(runs) - len(columns),
        commands=[line for run in runs for line in run.commands()],
        programs=[program for run in runs for program in run.programs()],
    )


def _figures(run: Run) -> Figures | None:
    """All that is compared of a run; None if it made no release."""
    found = run.result("anonymize")
    if found is None or run.state != "done":
        return None
    return {
        **found,
        "run": run,
        "verify": run.result("verify") or {},
        "attacks": run.attacks,
        "spec": run.made["spec"],
        "decision": run.decision or {},
    }


def _checks(found: Figures) -> tuple[Check, ...]:
    return tuple(typed(Check, one) for one in found["checks"])


def _attack(found: Figures) -> str:
    if not found["attacks"]:
        return "nobody tried"
    return (
        ", ".join(dict.fromkeys(n for one in found["attacks"] for n in one.beaten_by)) or "nobody"
    )


LINES: dict[str, Callable[[Figures], str]] = {
    "Method": lambda found: found["method"],
    "r": lambda found: f"{found['r']:g}",
    "Limit": lambda found: found["limit"],
    "Readers": lambda found: ", ".join(found["adversaries"]),
    "Verdict": lambda found: verdict_words(found["run"].robust),
    "Verified": lambda found: "verified" if found["verify"].get("confirmed") else "not verified",
    "Link of one view nearest to its limit": lambda found: percent(
        nearest_link(_checks(found), found["worst_posterior"])
    ),
    "Largest chance of a protected value": lambda found: percent(
        largest_chance(_checks(found), found["worst_posterior"])
    ),
    "People linked above their limit by the release": lambda found: (
        f"{most_people(_checks(found)):,}"
    ),
    "People not decided": lambda found: f"{found['undecided']:,}",
    "Above it by public statistics anyway": lambda found: f"{found['known_before']:,}",
    "Best guess is right": lambda found: percent(found["guess_rate"]),
    "Limit beaten by": _attack,
    "Published": lambda found: f"{found['published']:,}",
    "Left out": lambda found: f"{found['suppressed']:,}",
    "Of them with a protected value": lambda found: f"{found['suppressed_with_event']:,}",
    "Values changed": lambda found: f"{found['values_changed']:,}",
    "Groups": lambda found: f"{found['groups']:,}",
    "People in a group with a protected value": lambda found: (
        f"{found['mean_size_with_event']:.1f}"
    ),
    "Published with their exact value": lambda found: (
        f"{found.get('readable', found.get('shown_openly', 0)):,}"
    ),
    "Known to outsiders": lambda found: ", ".join(found["spec"].get("qi", [])),
    "min_support": lambda found: str(
        (found["assumed"] if "assumed" in found else found["spec"]).get("min_support", 100)
    ),
    "Time taken": lambda found: duration(sum(found["seconds"].values())),
    "Decision": lambda found: found["decision"].get("decision", "none"),
}
