"""The context of a release: what only people can say of it, on one page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from shoal.errors import ShoalError
from shoal.workbench.bench import Visit, go, last_run
from shoal.workbench.blame import CONTEXT, beside
from shoal.workbench.evidence.statements import proposals
from shoal.workbench.held import key_of
from shoal.workbench.project.context import (
    INTRUSION,
    PARTS,
    TEXTS,
    TITLES,
    intrusion_meanings,
    meanings,
)
from shoal.workbench.project.project import stated_in
from shoal.workbench.same import same_as_statement
from shoal.workbench.verdicts import facts_of

MODELS = ("public", "named recipients", "controlled access")
"""Ways to release that are offered; any other words do as well."""
MORE = 2
"""Empty lines for further tests by intruders."""


def show(visit: Visit) -> Response:
    return _page(visit, visit.project.context.stated, None)


def save(visit: Visit) -> Response:
    """Keeps what the form says."""
    given: dict[str, Any] = {name: visit.text(name) for name in TEXTS if name in visit.form}
    take = visit.text("take")
    if take in given and not given[take]:
        given[take] = _proposals(visit).get(take, "")
    given["intrusions"] = _intrusions(visit)
    ticked = set(visit.texts("confirm"))
    guessed = visit.project.guessed.items()
    given["confirmed"] = {name: text for name, text in guessed if key_of(name) in ticked}
    try:
        return _keep(visit, given) or go("/context")
    except ShoalError as error:
        return _page(visit, given, error)


def _keep(visit: Visit, given: Mapping[str, Any]) -> Response | None:
    """Keeps what is stated; the page of both versions where another page stated otherwise."""
    project, seen = visit.project, visit.text("version")
    with visit.bench.editing:
        shown = stated_in(project.journal.state(int(seen))) if seen.isdecimal() else None
        if shown not in (None, project.statement) and not _said(given, project.statement):
            from shoal.workbench.pages.changes import conflict

            return conflict(visit, project.aside(statement=given))
        project.state(**given)
    return None


def _said(given: Mapping[str, Any], statement: Mapping[str, str]) -> bool:
    """Whether what is given is stated already."""
    return all(statement.get(name, "") == given[name] for name in given if name in TEXTS)


def _intrusions(visit: Visit) -> list[dict[str, str]]:
    columns = [visit.texts(f"intrusion-{name}") for name in INTRUSION]
    lines = [dict(zip(INTRUSION, one, strict=True)) for one in zip(*columns, strict=False)]
    return [one for one in lines if any(text.strip() for text in one.values())]


def _proposals(visit: Visit) -> dict[str, str]:
    """What shoal proposes by the figures of the newest release."""
    run = last_run(visit, "anonymize")
    facts = facts_of(run) if run is not None and run.state == "done" else None
    return {} if facts is None else proposals(facts)


def _page(visit: Visit, stated: dict[str, Any], error: ShoalError | None) -> Response:
    confirmed = stated.get("confirmed") or {}
    return visit.page(
        "context",
        version=visit.project.version(),
        parts=PARTS,
        titles=TITLES,
        meanings=meanings(),
        models=MODELS,
        intrusion=intrusion_meanings(),
        stated=stated,
        intrusions=[*stated.get("intrusions", ()), *({} for _ in range(MORE))],
        proposals=_proposals(visit),
        guessed=[
            (name, text, key_of(name), confirmed.get(name) == text)
            for name, text in visit.project.guessed.items()
        ],
        errors=beside(error, CONTEXT),
        **same_as_statement(visit.project.statement),
    )
