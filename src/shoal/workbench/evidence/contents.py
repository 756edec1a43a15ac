"""What an evidence file says: a run, its release, and what was computed of both, gathered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal.auditing.attacked import AttackResult
from shoal.data.spec import Spec
from shoal.data.spec.toml_text import read_toml
from shoal.errors import InputError
from shoal.release.facts import Facts, load_facts
from shoal.release.stated import read_certificate
from shoal.workbench.drafting import role_of
from shoal.workbench.evidence.integrity import FileCheck, check_files, differences
from shoal.workbench.evidence.statements import By, reason_by
from shoal.workbench.evidence.values import KnownValue, known_values
from shoal.workbench.project import Project, Run
from shoal.workbench.project.context import Context
from shoal.workbench.project.files import is_as_left


@dataclass(frozen=True, kw_only=True)
class ShownColumn:
    """A column of the table, its role, and why it has it."""

    name: str
    role: str
    recoded: str
    reason: str
    by: By


@dataclass(frozen=True, kw_only=True)
class Risk:
    """How surely people are linked to a protected event at most, before or after publication: the
    largest figure, and the average over everybody published. None where it was not computed."""

    largest: float | None
    average: float | None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that the page shows."""

    run: Run
    facts: Facts
    certificate: dict[str, Any]
    verified: dict[str, Any] | None
    """What `shoal verify` said; None if it was not asked."""
    context: Context
    columns: list[ShownColumn]
    values: list[KnownValue] | None
    """How surely each sensitive value is concluded; None if the release cannot be read."""
    attacks: tuple[AttackResult, ...]
    before: Risk
    after: Risk
    earlier: list[dict[str, Any]]
    """Other releases of the same table in the project: run, made, method, r, robust, why the table
    is taken to be the same, and the decision."""
    together: dict[str, Any] | None
    """What all approved releases of the same people and this one tell together; None if it was not
    computed."""
    doubtful: list[str]
    """Earlier runs with a release that do not tell reliably what it is of."""
    files: list[FileCheck]
    wrong: list[str]
    """What does not fit together, in sentences."""
    decision: dict[str, Any] | None


def gather(folder: str | Path, *, context: Context | None = None) -> Evidence:
    """Gathers what is known of a run that made a release, or an InputError. What the `context`
    states counts before what the project does."""
    project, run = Project.of_run(folder)
    if run.kind != "anonymize":
        raise InputError(
            "evidence-kind",
            f"Run {run.name} made no release.",
            "Evidence is of a run that makes one (anonymize).",
        )
    if run.state != "done":
        raise InputError(
            "evidence-early",
            f"Run {run.name} is {run.state}, so there is no evidence yet.",
            "Wait until it is done, or start it again.",
        )
    release, private = run.folder / "release", run.folder / "private"
    said = project.context if context is None else project.context.with_(context)
    guesses = {**project.guessed, **run.made.get("guessed", {})}
    certificate, facts = read_certificate(release), load_facts(private)
    before, after = _risks(facts, private)
    files = check_files(release, certificate)
    runs = [one for one in project.runs() if _tells(one)]
    return Evidence(
        run=run,
        facts=facts,
        certificate=certificate,
        verified=run.result("verify"),
        context=said,
        columns=_columns(private, _reasons(project, run), guesses, said.confirmed or {}),
        values=known_values(release),
        attacks=_attacks(run, facts),
        before=before,
        after=after,
        earlier=_earlier(run, runs),
        together=run.result("audit") or certificate["audit"].get("together"),
        doubtful=_doubtful(run, runs),
        files=files,
        wrong=differences(run, certificate, facts, files),
        decision=run.decision,
    )


def _reasons(project: Project, run: Run) -> dict[str, str]:
    """Why columns have their roles, as the run kept it; what was said later counts where a column
    still has the role that it had then."""
    try:
        now = project.draft
    except InputError:
        now = {}
    later = project.reasons.items()
    then = run.made["spec"]
    same = {name: reason for name, reason in later if role_of(now, name) == role_of(then, name)}
    return {**same, **run.made.get("reasons", {})}


def _columns(
    private: Path,
    reasons: Mapping[str, str],
    guesses: Mapping[str, str],
    confirmed: Mapping[str, str],
) -> list[ShownColumn]:
    """The columns that the spec or a reason names. Others are not published either."""
    spec = Spec.from_mapping(read_toml(private / "spec.toml"))
    recoded = dict(spec.recode)
    roles = {
        "identifies people; not published": spec.identifiers,
        "says whose rows are whose; not published": spec.named_person,
        "quasi-identifier": spec.qi,
        "sensitive": spec.sensitive_columns,
    }
    named = {name for names in roles.values() for name in names}
    roles["not published"] = tuple(name for name in reasons if name not in named)
    return [
        ShownColumn(
            name=name,
            role=role,
            recoded=recoded[name].words() if name in recoded else "",
            reason=reasons.get(name, ""),
            by=reason_by(reasons.get(name, ""), guesses.get(name, ""), confirmed.get(name, "")),
        )
        for role, names in roles.items()
        for name in names
    ]


def _attacks(run: Run, facts: Facts) -> tuple[AttackResult, ...]:
    """The run's own attacks, or those that were run on its release by hand."""
    by_hand = facts.attack.by_column if isinstance(facts.attack, AttackResult) else ()
    return tuple(run.attacks) or by_hand


def _risks(facts: Facts, private: Path) -> tuple[Risk, Risk]:
    """Everybody's worst case before and after; averages need the record by row."""
    worst = facts.verdict.worst
    known = max((view.before for view in facts.views), default=None)
    largest = 0.0 if worst is None else worst.posterior
    largest = max((one.worst.posterior for one in facts.events if one.worst), default=largest)
    rows = private / "row_risks.parquet"
    if not rows.is_file():
        return Risk(largest=known, average=None), Risk(largest=largest, average=None)
    record = pl.read_parquet(rows, columns=["known_before", "posterior"])
    (before, after), (known_most, most) = record.mean().row(0), record.max().row(0)
    return (
        Risk(largest=max(known or 0.0, known_most or 0.0), average=before),
        Risk(largest=max(largest, most or 0.0), average=after),
    )


def _earlier(run: Run, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Releases of the same table that were made before this one, by the table's hash or address;
    also those whose run was stopped afterwards, during the attack."""
    found = []
    for other in runs:
        if int(other.name) >= int(run.name) or other.kind != "anonymize":
            continue
        same = _same_table(run, other)
        made = other.result("anonymize")
        if same is None or made is None or not (other.folder / "release").is_dir():
            continue
        found.append(
            {"run": other.name, "made": other.made["made"]}
            | {name: made[name] for name in ("method", "r", "robust")}
            | {"same": same, "decision": (other.decision or {}).get("decision")}
        )
    return found


def _doubtful(run: Run, runs: Sequence[Run]) -> list[str]:
    told = {one.name for one in runs if one.kind == "anonymize" and one.result("anonymize")}
    folders = [path.parent for path in run.folder.parent.glob("*/release") if path.is_dir()]
    names = sorted(one.name for one in folders if one.name.isdecimal() and one.name not in told)
    return [name for name in names if int(name) < int(run.name)]


def _tells(run: Run) -> bool:
    """Whether what a run was asked for and found stands there as it was left."""
    return is_as_left(run.folder, "run.json", "steps/1.json")


def _same_table(run: Run, other: Run) -> str | None:
    """Why two runs are of the same table; None if they are not known to be."""
    if run.table and other.table and run.table["sha256"] == other.table["sha256"]:
        return "the same file, byte for byte"
    if run.made["source"] == other.made["source"]:
        return "the same address"
    return None
