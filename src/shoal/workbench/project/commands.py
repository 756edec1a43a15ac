"""The command lines that a run works off, as `shoal` takes them in the project's folder.

Folders are named relative to the project's; each builder gives the steps of a run.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.workbench.project.source import Source

Steps = list[list[str]]
FOUND = "found.json"
"""What a search for settings keeps in its run's folder."""


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
    attack: bool = False,
    attackers: Sequence[str] = (),
    attacked: Sequence[str] = (),
    spec: Mapping[str, Any] | None = None,
) -> Steps:
    """Makes a release, verifies it, and attacks it if that is wanted, which the reports then tell
    of too. `parameters` are the method's, `hierarchies` files by QI; of several sensitive columns
    those `attacked` are. Of the `spec` only the files that it names matter here. It is written
    whatever the verdict is: a run's folder is for people who have yet to decide."""
    reports = ["--report", f"{run}/report.html", "--public-report", f"{run}/report-public.html"]
    made = [
        *("anonymize", source.address, "--spec", f"{run}/spec.toml"),
        *("--out", f"{run}/release", "--private", f"{run}/private", "--write-anyway"),
        *reports,
        *("--method", method),
        *_repeated("--adversary", readers),
        *_given("--model", model),
        *(text for name, value in (parameters or {}).items() for text in _option(name, value)),
        *_repeated("--hierarchy", (f"{qi}={file}" for qi, file in (hierarchies or {}).items())),
        *_given("--seed", seed),
        *_reading(source),
    ]
    release, private = f"{run}/release", f"{run}/private"
    steps = [made, *verify_steps(release, source, private=private, spec=spec)]
    steps[0].append("--json")
    if attack:
        for column in attacked or (None,):
            (step,) = attack_steps(
                release,
                source,
                private=private,
                spec=spec,
                attackers=attackers,
                column=column,
            )
            steps.append([*step[:-1], *reports, step[-1]])
    return steps


def plan_steps(
    run: str, source: Source, *, model: str | None = None, r: Sequence[float] = ()
) -> Steps:
    """Says which r is possible; for each `r`, what it would cost."""
    asked = [f"{one:g}" for one in r] or [""]
    return [
        [
            *("plan", source.address, "--spec", f"{run}/spec.toml"),
            *_given("--r", one),
            *_given("--model", model),
            *("--seconds", "0"),
            *_reading(source),
            "--json",
        ]
        for one in asked
    ]


def find_steps(run: str, source: Source, *, seconds: float) -> Steps:
    """Runs settings near the one asked for, and keeps what came of them as they end."""
    return [
        [
            *("find", source.address, "--spec", f"{run}/spec.toml"),
            *("--seconds", f"{seconds:g}", "--out", f"{run}/{FOUND}"),
            *_reading(source),
            "--json",
        ]
    ]


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
    return [
        [
            *("audit", source.address, "--spec", f"{run}/spec.toml"),
            *_given("--released", released),
            *_given("--groups", groups),
            *_given("--key", key),
            *_repeated("--adversary", readers),
            *(["--models"] if models else []),
            *("--report", f"{run}/report.html", "--public-report", f"{run}/report-public.html"),
            *_reading(source),
            "--json",
        ]
    ]


def verify_steps(
    release: str,
    source: Source | None = None,
    *,
    private: str | None = None,
    spec: Mapping[str, Any] | None = None,
) -> Steps:
    """Checks a release; with its table, every posterior is computed again."""
    table = [] if source is None else ["--table", source.address]
    reading = [] if source is None else _reading(source)
    told = [*_given("--private", private), *_files(spec or {})]
    return [["verify", release, *table, *told, *reading, "--json"]]


def attack_steps(
    release: str,
    source: Source,
    *,
    private: str | None = None,
    spec: Mapping[str, Any] | None = None,
    attackers: Sequence[str] = (),
    column: str | None = None,
    seed: int | None = None,
) -> Steps:
    """Lets the red team loose on a release, and on one column of it if several are sensitive."""
    return [
        [
            *("attack", release, "--table", source.address),
            *_given("--private", private),
            *_files(spec or {}),
            *_repeated("--attacker", attackers),
            *_given("--column", column),
            *_given("--seed", seed),
            *_reading(source),
            "--json",
        ]
    ]


def typed(arguments: Sequence[str]) -> str:
    """A command line as a user types it."""
    return shlex.join(["shoal", *arguments])


def _files(spec: Mapping[str, Any]) -> list[str]:
    """The files that a spec names and a release does not: whoever judges it is told again."""
    recode = spec.get("recode")
    recipes = recode if isinstance(recode, Mapping) else {}
    named = [
        f"{column}={recipe['hierarchy']}"
        for column, recipe in recipes.items()
        if isinstance(recipe, Mapping) and recipe.get("hierarchy")
    ]
    return [*_given("--knowledge", spec.get("knowledge")), *_repeated("--hierarchy", named)]


def _reading(source: Source) -> list[str]:
    return [*_given("--separator", source.separator), *_given("--encoding", source.encoding)]


def _given(option: str, value: object) -> list[str]:
    return [] if value is None or value == "" else [option, str(value)]


def _repeated(option: str, values: Iterable[str]) -> list[str]:
    return [text for value in values for text in (option, value)]


def _option(name: str, value: object) -> list[str]:
    option = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{option}" if value else f"--no-{option}"]
    return _given(f"--{option}", value)
