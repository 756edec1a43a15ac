"""The worst case: what everybody who attacks achieves on ART's releases, table by table and seed by
seed, with what a release costs.

Each run is a line of results/worst_case.jsonl as soon as it is done. A run that is there already is
not made again, unless the code of ART or of the limit is another one by now: so measuring can be
cut off, and go on. Where other code publishes the same and judges it the same, who attacks it
achieves the same, and is not asked again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.settings import (
    Subject,
    adult_frame,
    adult_spec,
    diabetes_subject,
    hospital_subject,
)
from benchmarks.stages import Say
from benchmarks.worst_tables import RUNS, runs
from shoal.attacks import Attack, Rate, Scene, as_attackers
from shoal.attacks import run as attack
from shoal.attacks.scoring import draw, shares
from shoal.auditing.adversaries.adversary import USUAL
from shoal.auditing.audit import audit
from shoal.auditing.checks import by_chance, seeds
from shoal.auditing.verdict import Audit
from shoal.data.spec import Limit, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Anonymizer, silent
from shoal.knowledge import Knowledge, entropy
from shoal.knowledge.entropy import most_believed
from shoal.methods import art
from shoal.methods.art import Art
from shoal.planning.comparison.trial import WARM_ROWS, Trial, warm_up
from shoal.release.utility import KnownClasses, Workload

Line = dict[str, Any]
SEEDS = tuple(range(1, int(os.environ.get("SHOAL_SEEDS", "3")) + 1))
LEVELS: tuple[tuple[float, Limit], ...] = (
    (5.0, "absolute"),
    (2.0, "absolute"),
    (10.0, "prior"),
    (3.0, "absolute"),
)
PRIOR: tuple[tuple[float, Limit], ...] = ((2.0, "prior"), (3.0, "prior"), (5.0, "prior"))
EIGHT = "Adult, 8 QIs"
HOSPITAL_ROWS, WIDE_ROWS = 50_000, 40_000
SURE, DOUBTED = 0.5, 0.4
"""Whom counts alone leave below the second should not be above the first."""
PICKED = 100
ROUNDING = 1e-3


@dataclass(frozen=True)
class Run:
    """One release that is made and attacked."""

    table: str
    r: float
    limit: Limit
    seed: int

    @property
    def name(self) -> tuple[Any, ...]:
        return self.table, self.r, self.limit, self.seed


@dataclass(frozen=True, eq=False)
class Truth:
    """A table, and, where it was drawn from a known distribution, everybody's true chance."""

    subject: Subject
    chance: pl.DataFrame | None = None
    """The QIs of everybody, with `chance`."""


def measure_worst_case(
    say: Say, *, wanted: Sequence[Run] | None = None, file: Path = RUNS
) -> list[Line]:
    """A line for each run in the file, those that are there already and those that are not."""
    kept = {_name(line): line for line in runs(file)}
    warm_up(Table.from_frame(*_small()), [Art()])
    for run in every_run() if wanted is None else wanted:
        before = kept.get(run.name, {})
        if before.get("code") == code() or (made := measured(run, before)) is None:
            continue
        kept[run.name] = made
        file.write_text("".join(json.dumps(line) + "\n" for line in kept.values()), "utf-8")
        say(f"  {made}")
    return [{"file": file.name, "runs": len(kept)}]


def _small() -> tuple[pl.DataFrame, Spec]:
    one = hospital_subject(WARM_ROWS)
    return one.frame, one.spec


@cache
def code() -> str:
    """What tells one version of ART and of the limit of all views from others: their files, but for
    what these import."""
    files = [*sorted(Path(art.__file__).parent.rglob("*.py")), Path(entropy.__file__)]
    lines = [line for file in files for line in _lines(file)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def _lines(file: Path) -> list[str]:
    lines = file.read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith(("from ", "import "))]


def _name(line: Line) -> tuple[Any, ...]:
    return line["table"], line["r"], line["limit"], line["seed"]


def every_run() -> Iterator[Run]:
    """First one seed of every setting, and one setting of every table."""
    levels = {name: [*LEVELS, *(PRIOR if name == "Adult" else ())] for name in TABLES}
    levels[EIGHT] = [(5.0, "prior")]
    for seed in SEEDS:
        for turn in range(max(map(len, levels.values()))):
            for table, some in levels.items():
                for r, limit in some[turn : turn + 1]:
                    yield Run(table, r, limit, seed)


def _adult(qi: int) -> Truth | None:
    frame = adult_frame()
    return None if frame is None else Truth(Subject("Adult", frame, adult_spec(qi=qi), {}))


def _diabetes() -> Truth | None:
    subject = diabetes_subject()
    return None if subject is None else Truth(subject)


def wide(rows: int, *, seed: int = 0) -> Truth:
    """People of a few kinds that nobody sees, with seven attributes, and a chance of an event that
    depends on all of these, on two of them together more than apart; invented throughout."""
    rng = np.random.default_rng(seed)
    sizes = (2, 3, 5, 6, 8, 10, 16)
    kind = rng.choice(5, rows, p=(0.35, 0.25, 0.2, 0.15, 0.05))
    codes = []
    for size in sizes:
        cumulative = np.cumsum(rng.dirichlet(np.full(size, 0.8), 5), axis=1)
        drawn = (rng.random(rows)[:, None] > cumulative[kind]).sum(axis=1)
        codes.append(np.minimum(drawn, size - 1))
    odds = -4.3 + sum(rng.normal(0, 0.5, size)[c] for size, c in zip(sizes, codes, strict=True))
    odds = odds + rng.normal(0, 0.7, (sizes[2], sizes[4]))[codes[2], codes[4]]
    chance = 1 / (1 + np.exp(-odds))
    other = rng.dirichlet(np.full(6, 2.0), sizes[3])[codes[3]].cumsum(axis=1)
    value = np.minimum((rng.random(rows)[:, None] > other).sum(axis=1), 5) + 1
    value = np.where(rng.random(rows) < chance, 0, value)
    names = tuple(f"a{number}" for number in range(len(sizes)))
    known = pl.DataFrame(dict(zip(names, (c.astype(str) for c in codes), strict=True)))
    frame = known.with_columns(s=pl.Series([f"v{one}" for one in value]))
    spec = Spec(qi=names, sensitive="s", protect=["v0"], r=5, max_attributes=3, min_support=100)
    return Truth(Subject("wide", frame, spec, {}), known.with_columns(chance=chance))


TABLES: dict[str, Callable[[], Truth | None]] = {
    "Adult": lambda: _adult(5),
    "hospital": lambda: Truth(hospital_subject(HOSPITAL_ROWS)),
    "diabetes130": _diabetes,
    "wide": lambda: wide(WIDE_ROWS),
    EIGHT: lambda: _adult(8),
}


@cache
def _truth(name: str) -> Truth | None:
    return TABLES[name]()


def measured(run: Run, before: Line | None = None) -> Line | None:
    """One release, and what everybody achieves on it; None where the table was not found. `before`
    is the run by other code."""
    truth = _truth(run.table)
    if truth is None:
        return None
    spec = truth.subject.spec.with_(r=run.r, limit=run.limit)
    table = Table.from_frame(truth.subject.frame, spec)
    line: Line = {"table": run.table, "r": run.r, "limit": run.limit, "seed": run.seed}
    line |= {"code": code(), "people": table.rows, "cases": table.carriers}
    known, method = Knowledge.of(table), Art()
    search = judging = 0.0
    for one in seeds(run.seed):  # as `shoal anonymize` draws groups anew
        started = time.process_time()
        try:
            trial = Trial.run(table, method, seed=one)
        except InputError as refused:
            return line | {"failed": refused.code}
        searched = time.process_time()
        found = audit(table, trial.grouping, knowledge=known, adversary=USUAL)
        audited = time.process_time()
        search, judging = search + searched - started, judging + audited - searched
        if not by_chance(found.checks):
            break
    line |= {"release": _published(trial)} | _judged(trial, found)
    if before and all(before.get(key) == line[key] for key in line if key != "code"):
        kept = [round(search, 1), round(judging, 1), before["cpu"][2]]
        return before | {"code": code(), "cpu": kept}
    line |= _attacked(trial, known, method, run.seed, truth)
    attacked = time.process_time()
    line |= _counted(trial, known)
    seconds = (search, judging, attacked - audited)
    return line | {"cpu": [round(one, 1) for one in seconds]}


def _published(trial: Trial) -> str:
    """What tells one release from others: all that it publishes."""
    tables = (trial.release.qi, trial.release.sensitive, trial.release.members)
    text = "".join("" if one is None else one.write_csv() for one in tables)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _judged(trial: Trial, found: Audit) -> Line:
    whole, lost = found.by_adversary["all-views"], trial.losses()
    hidden = lost["mean_group_with_event"] * found.event_groups / max(1, found.carriers)
    return {
        "robust": found.robust,
        "checks": {check.name: [check.state, check.people] for check in found.checks},
        "too_sure": whole.problematic + whole.missing,
        "certain": found.certain,
        "missed": round(whole.residual or 0.0, 3),
        "lost": [lost["suppressed"], lost["suppressed_with_event"]],
        "pooled": round(lost["pooled"] / trial.table.rows, 4),
        "per_case": round(hidden, 2),
    }


def _attacked(trial: Trial, known: Knowledge, method: Anonymizer, seed: int, truth: Truth) -> Line:
    scene = Scene(
        table=trial.table,
        grouping=trial.grouping,
        knowledge=known,
        limit=trial.table.spec.limit,
        remake=lambda other, seed: method.anonymize(other, seed=seed),
        seed=seed,
    )
    found = attack(scene, as_attackers(None), progress=silent)
    lineup = scene.lineup
    before = scene.by_counts[lineup.signature, lineup.event[lineup.question]]
    limit = np.maximum(1.0 / lineup.r[lineup.question], before)
    after, people = scene.believed[0], lineup.people
    return {
        "above": int(people[after > limit * (1 + ROUNDING)].sum()),
        "far_above": int(people[after > most_believed(limit) * (1 + ROUNDING)].sum()),
        "believed_half": int(people[(after > SURE) & (before < DOUBTED)].sum()),
        "attackers": {one.attacker: _in_short(one) for one in found.findings},
        "beaten_by": list(found.beaten),
        "surest": _surest(found),
        **_by_truth(scene, truth),
    }


def _in_short(one: Any) -> list[Any]:
    """Whom they named and how many carry: of all, and of those whom counts leave at 1/r; and what
    is allowed of all."""
    rates = (one.everybody, one.unknown)
    return [n for rate in rates for n in (rate.tries, rate.hits)] + [
        None if one.allowed is None else round(one.allowed, 4),
        one.surprises,
    ]


def _surest(found: Attack) -> list[float] | None:
    """Of the people of whom all counts are surest: how many carry, and without the release."""
    picked = [one for one in found["counter-all"].surest if one.among == "everybody"]
    for one in picked:
        if one.people == PICKED:
            return [one.right, one.without]
    return None


def _by_truth(scene: Scene, truth: Truth) -> Line:
    """Whoever knows the true distribution of a made table: whom they name, and what is allowed."""
    if truth.chance is None:
        return {}
    table, lineup = scene.table, scene.lineup
    qi = list(table.spec.qi)
    labels = {
        column.name: np.array(column.labels)[table.signatures[:, place]]
        for place, column in enumerate(table.qi)
    }
    each = pl.DataFrame(labels).join(
        truth.chance.unique(qi), on=qi, how="left", maintain_order="left"
    )
    true = each["chance"].to_numpy()[lineup.signature]
    named, hits = draw(lineup, shares(lineup, true), scene.rng("truth"))
    after = lineup.posterior(true / (1 - true))
    limit = np.maximum(1.0 / lineup.r[lineup.question], true)
    rate = Rate(int(named.sum()), int(hits.sum()))
    allowed = float(named @ limit) / max(1, rate.tries)
    far = int(lineup.people[after > most_believed(limit) * (1 + ROUNDING)].sum())
    return {"by_truth": [rate.tries, rate.hits, round(allowed, 4), far]}


def _counted(trial: Trial, known: Knowledge) -> Line:
    """How right recipients count: classes of at least 100 cases, and the paper's queries."""
    errors, queries = (
        KnownClasses.of(trial.table, known).errors(trial.published),
        trial.errors(Workload()),
    )
    return {
        "classes": len(errors.classes),
        "off": errors.average and round(errors.average, 4),
        "off_worst": errors.worst and round(abs(errors.worst.error), 4),
        "covered": errors.covered and round(errors.covered, 4),
        "queries": [
            queries[name] and round(queries[name], 4)
            for name in ("relative_error", "relative_error_protected")
        ],
    }
