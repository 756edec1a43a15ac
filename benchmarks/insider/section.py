"""Insiders on ART's groups, and on Adult on those of references too: the attacks that must fail on
the former must succeed on the latter, or they are too weak."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.clock import timed
from benchmarks.insider.attack import attack
from benchmarks.insider.finding import Finding
from benchmarks.settings import Subject, adult_subject, diabetes_subject, hospital_subject
from benchmarks.stages import Say
from shoal.data.spec import Limit
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Anonymizer, Grouping
from shoal.knowledge import Knowledge
from shoal.methods.anatomy import Anatomy
from shoal.methods.art import Art

LEVELS = (2.0, 3.0, 5.0, 10.0)
HOSPITAL_ROWS = 100_000
RESAMPLES = 2
STREAM = 7001
"""The insider's random numbers: others than any release is made with."""
ART = "ART"
METHODS: dict[str, Anonymizer] = {
    ART: Art(),
    "ART, Theorem 1": Art(condition="bound", max_suppression=1),
    "Anatomy": Anatomy(),
}
"""ART, and the references: the paper's own variant, which loses who finds no group, and Anatomy."""
HONEST = 10.0
"""From this r on, ART is held to the honest limit: under the absolute one too many carriers of
real tables find no group."""


def measure_insider(say: Say) -> list[dict[str, Any]]:
    """One line per table, method and r, with what every attacker achieves on it."""
    adult = adult_subject()
    subjects = (adult, diabetes_subject(), hospital_subject(HOSPITAL_ROWS))
    return [
        measured(subject, name, r, say)
        for subject in subjects
        if subject is not None
        for name in (METHODS if subject is adult else (ART,))
        for r in LEVELS
    ]


def measured(subject: Subject, name: str, r: float, say: Say) -> dict[str, Any]:
    """One release, and what every attacker achieves on it; or why there is none."""
    limit: Limit = "prior" if name == ART and r >= HONEST else "absolute"
    table = Table.from_frame(subject.frame, subject.spec.with_(r=r, limit=limit))
    line = {
        "table": subject.name,
        "rows": table.rows,
        "method": name,
        "r": r,
        "limit": limit,
        "min_support": table.spec.min_support,
        "carriers": table.carriers,
    }
    say(f"  {subject.name}, {name}, r {r:g}, limit {limit}")
    try:
        return line | _attacked(table, METHODS[name], limit, say)
    except InputError as error:
        if error.code not in ("suppression-limit", "r-impossible", "ineligible"):
            raise
        say(f"    {error}")
        return line | {"failed": error.problem}


def _attacked(table: Table, used: Anonymizer, limit: Limit, say: Say) -> dict[str, Any]:
    def method(some: Table, seed: int) -> Grouping:
        return used.anonymize(some, seed=seed)

    grouping, searching = timed(lambda: method(table, 0))
    findings, attacking = timed(
        lambda: attack(
            table,
            grouping,
            Knowledge.of(table),
            limit=limit,
            rng=np.random.default_rng(STREAM),
            method=method,
            resamples=RESAMPLES,
        )
    )
    holding = grouping.holding(table)
    people = grouping.sizes[holding] @ grouping.copies[holding]
    for finding in findings:
        say(f"    {_words(finding, table.spec.r)}")
    return {
        "suppressed": table.carriers - grouping.carriers(table),
        "people_per_carrier": round(float(people) / max(1, grouping.carriers(table)), 2),
        "search_seconds": round(searching, 2),
        "attack_seconds": round(attacking, 1),
        "attackers": [finding.facts() for finding in findings],
    }


def _words(finding: Finding, r: float) -> str:
    """A finding in a line; a rate that is surely above 1/r is marked."""
    rates = (finding.everybody, finding.unknown, finding.unforeseen)
    shown = [f"{rate}{'!' if rate.interval[0] > 1 / r else ' '}" for rate in rates]
    told = "everybody {} unknown before {} to models too {}".format(*shown)
    return f"{finding.attacker:<30} {told}"
