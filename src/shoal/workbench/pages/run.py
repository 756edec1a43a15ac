"""Run: by which method, against whom, and how strictly; the work is a process of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from starlette.responses import Response

from shoal.data.spec.checks import number_or_text
from shoal.data.table.hierarchy import read_hierarchy
from shoal.declared import Parameter
from shoal.errors import InputError, ShoalError
from shoal.methods.registry import make_method, method_names, parameters_of
from shoal.names import ADVERSARIES, MODELS
from shoal.release.ledger import CHAIN
from shoal.workbench.bench import TableAsked, Visit, after_roles, begin, go
from shoal.workbench.blame import RUN, beside, failed_before
from shoal.workbench.drafting import put
from shoal.workbench.held import key_of
from shoal.workbench.inside import inside, table_files
from shoal.workbench.project import anonymize_steps
from shoal.workbench.same import same_as

ALONE = "alone"
MINUTES, MOST_MINUTES = "5", 10_000
PLAIN = ("int", "float", "str", "bool", "Literal[")


@after_roles
def show(visit: Visit, asked: TableAsked) -> Response:
    return _page(visit, asked, failed_before(visit))


@after_roles
def start(visit: Visit, asked: TableAsked) -> Response:
    """Makes the run and lets it begin."""
    try:
        steps = _steps(visit, asked)
        r, limit = visit.text("r") or f"{asked.spec.r:g}", visit.text("limit") or "absolute"
        asked.spec.with_(r=r, limit=limit)
        draft = put(visit.project.draft, "r", number_or_text(r)) | {"limit": limit}
        visit.project.write_draft(draft)
        run = begin(visit, "anonymize", steps, title=visit.text("title"))
    except ShoalError as error:
        return _page(visit, asked, error)
    return go(f"/runs/{run.name}")


def same(visit: Visit) -> Response:
    """The page for what is chosen so far, of which its commands are taken."""
    return show(visit)


def _steps(visit: Visit, asked: TableAsked) -> Any:
    method, readers = visit.text("method") or "art", visit.texts("readers")
    if not readers or set(readers) - set(ADVERSARIES):
        raise InputError("reader-none", "No adversary is ticked.", "Tick at least one.")
    parameters, files = _typed(visit, method), _hierarchy_files(visit, asked)
    read = {qi: read_hierarchy(visit.project.folder / file, name=qi) for qi, file in files.items()}
    make_method(method, parameters | ({"hierarchies": read} if read else {}))
    model = visit.text("model")
    if model not in ("", *MODELS):
        raise InputError(
            "model-name", f'There is no model "{model}".', f"Choose among: {', '.join(MODELS)}."
        )
    chosen = [] if len(readers) == len(ADVERSARIES) else readers
    columns = asked.spec.sensitive_columns
    return partial(
        anonymize_steps,
        source=asked.source,
        method=method,
        readers=chosen,
        model=model or None,
        parameters=parameters,
        hierarchies=files,
        **_follows(visit, asked),
        **_attack(visit),
        attacked=columns if len(columns) > 1 else (),
        spec=visit.project.draft,
    )


def _follows(visit: Visit, asked: TableAsked) -> dict[str, Any]:
    """Which approved release the next one follows, or beside which it stands alone; and whether
    others are to follow."""
    chosen, runs = visit.text("follows"), visit.project.approved()
    if chosen == ALONE:
        near = [f"runs/{run.name}/release" for run in runs if run.is_of(asked.source)]
        return {"alone": True, "beside": near}
    if chosen:
        return {"after": f"runs/{visit.project.run(chosen).name}/private"}
    return {"ledger": "ledger" in visit.form}


def _other_than_draft(visit: Visit, asked: TableAsked) -> dict[str, str]:
    """What was typed that the draft says otherwise."""
    kept = {"r": f"{asked.spec.r:g}", "limit": asked.spec.limit}
    typed = {name: visit.text(name) for name in kept}
    return {name: value for name, value in typed.items() if value not in ("", kept[name])}


def _attack(visit: Visit) -> dict[str, Any]:
    """Whether the red team tries, and for how long."""
    if "attack" not in visit.form:
        return {}
    return {"attack": True, "budget": _seconds(visit.text("minutes") or MINUTES)}


def _seconds(typed: str) -> float:
    """How long the red team may take, as the command line has it."""
    minutes = number_or_text(typed)
    if not isinstance(minutes, int | float) or not 0 < minutes <= MOST_MINUTES:
        raise InputError(
            "budget",
            f'The minutes for the red team are "{typed}".',
            f"Give a number above 0, up to {MOST_MINUTES:,}.",
        )
    return 60.0 * minutes


def _took(visit: Visit) -> tuple[str, float] | None:
    """The newest run that was attacked, and how many seconds that took."""
    for run in reversed(visit.project.runs()):
        seconds = [found.seconds for found in run.attacks if found.seconds]
        if seconds:
            return run.name, sum(seconds)
    return None


def _hierarchy_files(visit: Visit, asked: TableAsked) -> dict[str, str]:
    """The files of the project that were chosen as hierarchies, by QI."""
    chosen = {qi: visit.text(f"h-{key_of(qi)}") for qi in asked.spec.qi}
    folder = visit.project.folder
    return {qi: inside(folder, file) for qi, file in chosen.items() if file}


def _typed(visit: Visit, method: str) -> dict[str, Any]:
    """The parameters of the method that were filled in."""
    if method not in method_names():
        return {}
    typed = {one: visit.text(f"p-{method}-{one.name}") for one in parameters_of(method)}
    return {one.name: _value(one, text) for one, text in typed.items() if text}


def _value(one: Parameter, text: str) -> Any:
    """A parameter as its type has it; an InputError for what the command line would not take."""
    kind = one.type.removesuffix(" | None")
    number = number_or_text(text)
    taken = {"true": True, "false": False}
    if kind == "bool" and text in taken:
        return taken[text]
    choices = re.findall(r"['\"]([^'\"]+)['\"]", kind)
    if kind == "str" or text in choices:
        return text
    if (kind, type(number)) in (("int", int), ("float", int), ("float", float)):
        return number
    possible = ", ".join(choices or {"bool": list(taken)}.get(kind, ["a number"]))
    raise InputError(
        "parameter-form", f'The parameter {one.name} is "{text}".', f"Possible: {possible}."
    )


@lru_cache(maxsize=1)
def _parameters() -> Mapping[str, list[Parameter]]:
    """The parameters of each method that can be written down."""
    return {
        method: [one for one in parameters_of(method) if one.type.startswith(PLAIN)]
        for method in method_names()
    }


def _page(visit: Visit, asked: TableAsked, error: ShoalError | None = None) -> Response:
    sent = visit.request.method == "POST"
    running = [run for run in visit.project.runs() if run.state == "running"]
    try:
        make = _steps(visit, asked)
    except ShoalError:  # nothing is chosen yet, or something that cannot be
        tried: dict[str, Any] = {} if sent else {"attack": True, "budget": _seconds(MINUTES)}
        make = partial(anonymize_steps, source=asked.source, spec=visit.project.draft, **tried)
    steps = make(".", **_other_than_draft(visit, asked))
    return visit.page(
        "run",
        spec=asked.spec,
        running=running,
        methods=_parameters(),
        models=MODELS,
        adversaries=ADVERSARIES,
        files=[file for file in table_files(visit.project.folder) if file.endswith(".csv")],
        hierarchies=[(qi, f"h-{key_of(qi)}") for qi in asked.spec.qi],
        approved=(approved := visit.project.approved()),
        followed=[run.name for run in approved if (run.folder / "private" / CHAIN).is_file()],
        typed=visit.form,
        sent=sent,
        minutes=MINUTES,
        took=_took(visit),
        method=visit.text("method") or "art",
        readers=visit.texts("readers") if sent else ADVERSARIES,
        limit=visit.text("limit") or asked.spec.limit,
        r=visit.text("r") if sent else f"{asked.spec.r:g}",
        errors=beside(error, RUN),
        **same_as(steps),
    )
