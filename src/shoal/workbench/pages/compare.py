"""Compare: runs side by side, with what differs marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from shoal.auditing.checks import Check, largest_chance, most_people, nearest_link
from shoal.plain import typed
from shoal.wording import percent
from shoal.workbench.bench import Visit, go
from shoal.workbench.project import Run
from shoal.workbench.rendering import duration
from shoal.workbench.texts import say

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
    for key, shown in LINES.items():
        cells = [shown(figures) for figures in columns]
        lines.append((say(f"compare.{key}"), cells, len(set(cells)) > 1))
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


def _count(key: str) -> Callable[[Figures], str]:
    return lambda found: f"{found[key]:,}"


def _share(key: str) -> Callable[[Figures], str]:
    return lambda found: percent(found[key])


def _checks(found: Figures) -> tuple[Check, ...]:
    return tuple(typed(Check, one) for one in found["checks"])


def _worst(found: Figures) -> str:
    """The link of one view that comes nearest to its limit."""
    return percent(nearest_link(_checks(found), found["worst_posterior"]))


def _largest(found: Figures) -> str:
    return percent(largest_chance(_checks(found), found["worst_posterior"]))


def _verdict(found: Figures) -> str:
    return say(f"verdict.{ {True: 'yes', False: 'no', None: 'open'}[found['run'].robust] }")


def _attack(found: Figures) -> str:
    if not found["attacks"]:
        return say("compare.not_tried")
    beaten = dict.fromkeys(name for one in found["attacks"] for name in one.beaten_by)
    return ", ".join(beaten) if beaten else say("compare.nobody")


LINES: dict[str, Callable[[Figures], str]] = {
    "method": lambda found: found["method"],
    "r": lambda found: f"{found['r']:g}",
    "limit": lambda found: found["limit"],
    "readers": lambda found: ", ".join(found["adversaries"]),
    "verdict": _verdict,
    "verify": lambda found: say(
        "runs.confirmed" if found["verify"].get("confirmed") else "runs.refuted"
    ),
    "worst": _worst,
    "largest": _largest,
    "problematic": lambda found: f"{most_people(_checks(found)):,}",
    "undecided": _count("undecided"),
    "known": _count("known_before"),
    "guess": _share("guess_rate"),
    "attack": _attack,
    "published": _count("published"),
    "suppressed": _count("suppressed"),
    "suppressed_carriers": _count("suppressed_with_event"),
    "changed": _count("values_changed"),
    "groups": _count("groups"),
    "size": lambda found: f"{found['mean_size_with_event']:.1f}",
    "readable": lambda found: f"{found.get('readable', found.get('shown_openly', 0)):,}",
    "qi": lambda found: ", ".join(found["spec"].get("qi", [])),
    "min_support": lambda found: str(
        (found["assumed"] if "assumed" in found else found["spec"]).get("min_support", 100)
    ),
    "time": lambda found: duration(sum(found["seconds"].values())),
    "decision": lambda found: (
        say(f"decision.{found['decision']['decision']}") if found["decision"] else say("none")
    ),
}
