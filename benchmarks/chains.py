"""Chains of releases: people of a table who come in twelve months, each month a release that
follows the one before; what it tells, what it costs, and what attackers achieve after the last.

Each month is a line of results/chains.jsonl as soon as it is done; chains that are there whole are
not made again. A month whose newcomers are refused, or not robust, waits for the next.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from benchmarks.chain_tables import RUNS, chains
from benchmarks.settings import Subject, adult_frame, adult_spec, hospital_subject
from benchmarks.stages import Say
from shoal.arrays import Floats
from shoal.attacks import Attack
from shoal.auditing.adversaries.adversary import USUAL
from shoal.auditing.audit import audit
from shoal.data.table import Table
from shoal.groups import silent
from shoal.knowledge import Knowledge
from shoal.planning.comparison.trial import Trial
from shoal.release.folder import private_folder
from shoal.release.utility import Workload

MONTHS, ROWS, PERSON = 12, 20_000, "person"
OUTBREAK, TIMES = 6, 3.0
"""In the epidemic, the month in which a case comes so many times as often."""
Line = dict[str, Any]


@dataclass(frozen=True)
class Chain:
    """A table, and who comes when."""

    table: str
    r: float
    intake: str
    seed: int


def every_chain() -> Iterator[Chain]:
    """First one seed of every setting."""
    for seed in (1, 2):
        for intake in INTAKES:
            for table in TABLES:
                for r in (5.0, 3.0):
                    yield Chain(table, r, intake, seed)


def _adult() -> Subject | None:
    frame = adult_frame()
    return None if frame is None else Subject("Adult", frame, adult_spec(), {})


TABLES: dict[str, Callable[[], Subject | None]] = {
    "hospital": lambda: hospital_subject(ROWS),
    "Adult": _adult,
}


def _random(chance: np.random.Generator, subject: Subject) -> Floats:
    return chance.random(subject.frame.height) * MONTHS


def _by(place: int) -> Callable[[np.random.Generator, Subject], Floats]:
    """In the order of a QI: people with the same value in random order."""

    def ordered(chance: np.random.Generator, subject: Subject) -> Floats:
        frame = subject.frame
        value = frame[subject.spec.qi[place]].rank("dense").to_numpy().astype(np.float64)
        rank = np.lexsort([chance.random(frame.height), value])
        moment = np.empty(frame.height)
        moment[rank] = np.arange(frame.height) * MONTHS / frame.height
        return moment

    return ordered


def _epidemic(chance: np.random.Generator, subject: Subject) -> Floats:
    moment = _random(chance, subject)
    table = Table.from_frame(subject.frame, subject.spec)
    share = (TIMES - 1) / (MONTHS - 1)
    moved = (table.row_event >= 0) & (chance.random(table.rows) < share)
    return np.where(moved, OUTBREAK + chance.random(table.rows), moment)


INTAKES: dict[str, Callable[[np.random.Generator, Subject], Floats]] = {
    "random": _random,
    "epidemic in month 7": _epidemic,
    "by the first QI": _by(0),
    "by the third QI": _by(2),
}
"""When everybody comes, from 0 to the number of months."""


def measure_chains(
    say: Say, *, wanted: Sequence[Chain] | None = None, file: Path = RUNS
) -> list[Line]:
    """The lines of each chain in the file: those that are there already, and those that are not."""
    kept = chains(file)
    for chain in every_chain() if wanted is None else wanted:
        if any(_is(line, chain) and line["month"] == MONTHS for line in kept):
            continue
        kept = [line for line in kept if not _is(line, chain)]
        for line in months(chain):
            kept.append(line)
            file.write_text("".join(json.dumps(one) + "\n" for one in kept), "utf-8")
            say(f"  {line}")
    return [{"file": file.name, "months": len(kept)}]


def _is(line: Mapping[str, Any], chain: Chain) -> bool:
    return all(line[name] == one for name, one in asdict(chain).items())


def months(chain: Chain) -> Iterator[Line]:
    """A line for each month; none where the table was not found."""
    subject = TABLES[chain.table]()
    if subject is None:
        return
    frame = subject.frame.with_columns(pl.int_range(pl.len()).cast(pl.String).alias(PERSON))
    spec = subject.spec.with_(r=chain.r)
    moment = INTAKES[chain.intake](np.random.default_rng(chain.seed), subject)
    last: Path | None = None
    with tempfile.TemporaryDirectory() as folder:
        for month in range(MONTHS):
            mine, here = frame.filter(moment < month + 1), Path(folder) / f"release-{month:02}"
            line: Line = {**asdict(chain), "month": month + 1, "people": mine.height}
            given: dict[str, Any] = {"ledger": True, "key": PERSON}
            if last is not None:
                given = {"after": private_folder(last)}
            started = time.process_time()
            try:
                made = shoal.anonymize(mine, spec, seed=chain.seed, **given)
            except shoal.InputError as refused:
                yield line | {"refused": refused.code, "remedy": refused.remedy}
                continue
            line["cpu"] = round(time.process_time() - started, 1)
            line |= _told(made)
            if made.robust:
                made.save(here, private=private_folder(here))
                last = here
            if month + 1 == MONTHS:
                line |= _anew(mine, spec, chain.seed)
                line |= _attacked(made, sorted(Path(folder).glob("release-??")), mine, chain.seed)
            yield line


def _told(made: shoal.Release) -> Line:
    """The verdict, what it leaves out because earlier releases told it, and what the release
    costs."""
    run = made.made
    assert run.audit is not None
    alone = audit(run.table, run.grouping, knowledge=Knowledge.of(run.table), adversary=USUAL)
    whole, together = alone.by_adversary["all-views"], run.audit.releases
    return {
        "robust": run.audit.robust,
        "checks": {one.name: [one.state, one.people] for one in run.audit.checks},
        "certain": alone.certain,
        "told": 0 if together is None else together.told,
        "too_sure": whole.problematic + whole.missing,
        "too_few": alone.counter.carriers,
        **_cost(_trial(made)),
    }


def _trial(made: shoal.Release) -> Trial:
    return Trial(made.made.table, made.made.grouping, made, None)


def _cost(trial: Trial) -> Line:
    lost, table = trial.losses(), trial.table
    event = table.value_event[trial.grouping.value] >= 0
    held = np.bincount(trial.grouping.group[event], minlength=len(trial.grouping.copies)) > 0
    hiding = int((trial.grouping.sizes * trial.grouping.copies)[held].sum())
    errors = trial.errors(Workload())
    return {
        "cases": table.carriers,
        "lost": lost["suppressed_with_event"],
        "per_case": round(hiding / max(1, table.carriers), 1),
        "pooled": round(lost["pooled"] / table.rows, 4),
        "error": errors["relative_error"] and round(errors["relative_error"], 4),
        "event_error": errors["relative_error_protected"]
        and round(errors["relative_error_protected"], 4),
    }


def _anew(frame: pl.DataFrame, spec: shoal.Spec, seed: int) -> Line:
    """The same people in one release that follows none."""
    started = time.process_time()
    made = shoal.anonymize(frame, spec, seed=seed)
    cpu = round(time.process_time() - started, 1)
    return {"anew": {"robust": made.robust, "cpu": cpu, **_cost(_trial(made))}}


def _attacked(
    made: shoal.Release, releases: Sequence[Path], frame: pl.DataFrame, seed: int
) -> Line:
    """What attackers achieve on the last release, and those who compare it with each before."""
    known = Knowledge.of(made.made.table)
    found = _trial(made).attacked(known, None, seed=seed, progress=silent)
    told: Line = {"attackers": _in_short(found), "beaten_by": list(found.beaten)}
    if made.robust and len(releases) > 1:
        *others, last = map(str, releases)
        both = shoal.attack(last, table=frame, others=others, seed=seed)
        told["attackers"] |= _in_short(both)
        told["beaten_by"] += both.beaten
    return told


def _in_short(found: Attack) -> Line:
    """Whom each named and how many carry: of all, and of those whom counts leave at 1/r; and what
    is allowed of all."""
    return {
        one.attacker: [
            *(n for rate in (one.everybody, one.unknown) for n in (rate.tries, rate.hits)),
            None if one.allowed is None else round(one.allowed, 4),
            one.surprises,
        ]
        for one in found.findings
    }
