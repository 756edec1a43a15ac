"""The steps of a run: command lines as `shoal` takes them in the project's folder, and the same as
programs. Folders are named relative to the project's."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shoal.data.spec.checks import number_or_text
from shoal.errors import InternalError
from shoal.names import READING
from shoal.workbench.project.source import Source

Step = list[str]
Steps = list[Step]
FOUND = "found.json"
"""What a search for settings keeps in its run's folder."""
FLAGS = ("json", "models", "write_anyway", "ledger", "alone")
NAMES = {
    "plan": "plan",
    "find": "found",
    "audit": "audit",
    "attack": "attack",
    "anonymize": "release",
    "verify": "checked",
}
"""What a program calls the result of each command."""
TEXTS = ("after", "column", "groups", "key", "knowledge", "method", "model", "private")
TABLES = ("table", "released")
LISTS = {"adversary": "adversary", "attacker": "attackers"}
ASKED = ("r", "limit")
WRITTEN = ("spec", "hierarchy", "importance", "out", "write_anyway", "report", "public_report")
ASIDE = ("alone", "json", "releases", *WRITTEN, *ASKED, *READING)
"""What the command line does besides, and Python has no need of or does otherwise."""


def step(verb: str, subject: str, source: Source | None = None, /, **options: Any) -> Step:
    """One command line: what is None or empty is left out, several values of an option are
    repeated, and the address of a source says how it is read."""
    how = vars(source) if source is not None else {}
    options |= {name: how[name] for name in READING if name in how}
    told = [text for name, value in options.items() for text in _written(name, value)]
    return [verb, subject, *told, "--json"]


def _written(name: str, value: Any) -> Iterator[str]:
    option = name.replace("_", "-")
    if isinstance(value, bool):
        yield f"--{option}" if value else f"--no-{option}"
    elif isinstance(value, Mapping):
        yield from _written(name, [f"{of}={file}" for of, file in value.items()])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from (f"--{option}", str(one))
    elif value is not None and value != "":
        yield from (f"--{option}", str(value))


def anonymize_steps(
    run: str,
    source: Source,
    *,
    method: str = "art",
    readers: Sequence[str] = (),
    model: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    hierarchies: Mapping[str, str] | None = None,
    seed: int | None = None,
    ledger: bool = False,
    after: str | None = None,
    alone: bool = False,
    beside: Sequence[str] = (),
    attack: bool = False,
    budget: float | None = None,
    attackers: Sequence[str] = (),
    attacked: Sequence[str] = (),
    spec: Mapping[str, Any] | None = None,
    **asked: Any,
) -> Steps:
    """Makes a release, verifies it, and attacks it if that is wanted, which the reports then tell
    of too. `parameters` are the method's, `hierarchies` files by QI; of several sensitive columns
    those `attacked` are. It follows the release of the private folder `after`; or stands `alone`,
    judged together with the releases `beside` it. Of the `spec` only the files that it names matter
    here, and `asked` is what is to hold instead of it. It is written whatever the verdict is: a
    run's folder is for people who have yet to decide."""
    release, private, reports = f"{run}/release", f"{run}/private", _reports(run)
    made = step(
        *("anonymize", source.address, source),
        spec=f"{run}/spec.toml",
        out=release,
        private=private,
        write_anyway=True,
        **reports,
        method=method,
        adversary=readers,
        model=model,
        **(parameters or {}),
        hierarchy=hierarchies,
        seed=seed,
        ledger=ledger or None,
        after=after,
        alone=alone or None,
        **asked,
    )
    judged: dict[str, Any] = {"private": private, "spec": spec}
    tried: dict[str, Any] = {"attackers": attackers, "budget": budget, "reports": reports}
    # A release that follows another is of its ledger's people, in their order.
    whole = source if after is None else Source(f"{private}/ledger.parquet")
    steps = [made, *verify_steps(release, whole, **judged)]
    if beside:
        steps.append(step("audit", source.address, source, releases=[*beside, release]))
    for column in (attacked or (None,)) if attack else ():
        steps += attack_steps(release, whole, **judged, **tried, column=column)
    return steps


def plan_steps(run: str, source: Source, *, r: Sequence[float] = ()) -> Steps:
    """Says which r is possible; for each `r`, what it would cost."""
    told = {"spec": f"{run}/spec.toml", "seconds": 0}
    asked = [f"{one:g}" for one in r] or [""]
    return [step("plan", source.address, source, r=one, **told) for one in asked]


def find_steps(
    run: str, source: Source, *, seconds: float, importance: Mapping[str, float] | None = None
) -> Steps:
    """Runs settings near the one asked for, and keeps what came of them as they end."""
    told = {"spec": f"{run}/spec.toml", "seconds": f"{seconds:g}", "out": f"{run}/{FOUND}"}
    matter = {name: f"{one:g}" for name, one in (importance or {}).items()}
    return [step("find", source.address, source, importance=matter, **told)]


def audit_steps(
    run: str,
    source: Source,
    *,
    released: str | None = None,
    groups: str | None = None,
    key: str | None = None,
    readers: Sequence[str] = (),
    models: bool = False,
) -> Steps:
    """Judges what another tool made of the table, or groups that a column labels."""
    told = {"released": released, "groups": groups, "key": key, "adversary": readers}
    more = {"models": models or None, **_reports(run)}
    return [step("audit", source.address, source, spec=f"{run}/spec.toml", **told, **more)]


def verify_steps(
    release: str,
    source: Source | None = None,
    *,
    private: str | None = None,
    spec: Mapping[str, Any] | None = None,
) -> Steps:
    """Checks a release; with its table, every posterior is computed again."""
    table = None if source is None else source.address
    return [step("verify", release, source, table=table, private=private, **_files(spec or {}))]


def attack_steps(
    release: str,
    source: Source,
    *,
    private: str | None = None,
    spec: Mapping[str, Any] | None = None,
    attackers: Sequence[str] = (),
    column: str | None = None,
    seed: int | None = None,
    budget: float | None = None,
    reports: Mapping[str, str] | None = None,
) -> Steps:
    """Lets the red team loose on a release, and on one column of it if several are sensitive."""
    told = {"attacker": attackers, "column": column, "seed": seed, **(reports or {})}
    told["budget"] = None if budget is None else f"{budget:g}"
    files = {"private": private, **_files(spec or {})}
    return [step("attack", release, source, table=source.address, **files, **told)]


def _reports(run: str) -> dict[str, str]:
    return {"report": f"{run}/report.html", "public_report": f"{run}/report-public.html"}


def _files(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The files that a spec names and a release does not: whoever judges it is told again."""
    recode = spec.get("recode")
    recipes = recode.items() if isinstance(recode, Mapping) else ()
    named = {
        column: recipe["hierarchy"]
        for column, recipe in recipes
        if isinstance(recipe, Mapping) and recipe.get("hierarchy")
    }
    return {"knowledge": spec.get("knowledge"), "hierarchy": named}


def typed(arguments: Sequence[str]) -> str:
    """A command line as a user types it."""
    return shlex.join(["shoal", *arguments])


def options_of(arguments: Sequence[str]) -> dict[str, list[str]]:
    """What a step says for each option."""
    options: dict[str, list[str]] = {}
    given = iter(arguments[2:])
    for text in given:
        name = text.removeprefix("--").replace("-", "_")
        flag = name in FLAGS or name.startswith("no_")
        options.setdefault(name, []).append("" if flag else next(given))
    return options


def python_of(arguments: Sequence[str]) -> str:
    """A program that does what a step does, and holds the same figures."""
    verb, subject, options = arguments[0], arguments[1], options_of(arguments)
    if verb not in NAMES:
        raise InternalError(f"{verb} is no step of a run")
    told = [_read(subject, options) if "spec" in options else repr(subject)]
    lines, made = ["import shoal"], verb == "anonymize"
    files = [text.partition("=") for text in options.get("hierarchy", ())]
    if made and files:
        lines.append("from shoal.data.table.hierarchy import read_hierarchy")
    lines.append("")
    if "spec" in options:
        asked = [f"{name}={_literal(options[name][-1])}" for name in ASKED if name in options]
        other = f".with_({', '.join(asked)})" if asked else ""
        lines.append(f"spec = shoal.Spec.from_toml({options['spec'][-1]!r}){other}")
        told.append("spec")
    together = verb == "audit" and "releases" in options
    if together:
        told.append(repr(options["releases"]))
    aside = (*ASIDE, "private") if made else ASIDE
    told += [_argument(name, options) for name in options if name not in aside]
    if files:
        form = "{0!r}: read_hierarchy({1!r}, name={0!r})" if made else "{0!r}: {1!r}"
        pairs = (form.format(column, file) for column, _, file in files)
        told.append(f"hierarchies={{{', '.join(pairs)}}}")
    if importance := [text.rpartition("=") for text in options.get("importance", ())]:
        told.append(f"importance={ {name: float(one) for name, _, one in importance} }")
    called = f"shoal.{verb}{'_releases' if together else ''}"
    call = f"{NAMES[verb]} = {called}({', '.join(told)})"
    if len(call) > 88:
        call = "\n    ".join([f"{NAMES[verb]} = {called}(", *(f"{one}," for one in told)])
        call += "\n)"
    lines.append(call)
    if made:
        out, private = options["out"][-1], options["private"][-1]
        alone = ", alone=True" if "alone" in options else ""
        lines.append(f"release.save({out!r}, private={private!r}{alone})")
    return "\n".join([*lines, ""])


def _read(address: str, options: Mapping[str, list[str]]) -> str:
    """How a table is named: by its address, or read first where it must be said how."""
    how = [f"{name}={options[name][-1]!r}" for name in READING if name in options]
    return f"shoal.read_table({', '.join([repr(address), *how])})" if how else repr(address)


def _argument(name: str, options: Mapping[str, list[str]]) -> str:
    values = options[name]
    if name in TABLES:
        return f"{name}={_read(values[-1], options)}"
    if name in FLAGS:
        return f"{name}=True"
    if name.startswith("no_"):
        return f"{name.removeprefix('no_')}=False"
    if name in LISTS:
        return f"{LISTS[name]}={values!r}"
    return f"{name}={repr(values[-1]) if name in TEXTS else _literal(values[-1])}"


def _literal(text: str) -> str:
    """A number as it is written, any other text in quotation marks."""
    return repr(number_or_text(text))
