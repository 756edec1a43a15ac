"""How right recipients count: carriers by class of people and the paper's event queries, with equal
shares and by leanings; and how often whoever takes leanings for a hint names the carrier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.insider.attack import attack_by_leanings
from benchmarks.settings import Subject, adult_subject, diabetes_subject, hospital_subject
from benchmarks.stages import Say
from shoal.comparison.trial import Trial, equip
from shoal.errors import InputError
from shoal.grouping import Grouping
from shoal.knowledge import Knowledge
from shoal.release import Release
from shoal.release.leaning_fit import fit_leanings
from shoal.spec import Limit
from shoal.table import Table
from shoal.utility import KnownClasses, Workload
from shoal.utility.classes import ClassErrors
from shoal.utility.count import coded
from shoal.utility.published import Published
from shoal.utility.summary import measure_errors

LEVELS: tuple[tuple[float, Limit], ...] = (
    (2.0, "absolute"),
    (3.0, "absolute"),
    (5.0, "absolute"),
    (10.0, "prior"),
)
SEEDS = (1, 2, 3)
Floats = NDArray[np.float64]
HOSPITAL_ROWS = 100_000
METHODS = ("art", "anatomy")


def measure_counts(say: Say) -> list[dict[str, Any]]:
    """A line per table, method and r, over some seeds; ART's release of the first is attacked."""
    subjects = (adult_subject(), diabetes_subject(), hospital_subject(HOSPITAL_ROWS))
    lines = []
    for subject in (one for one in subjects if one is not None):
        for r, limit in LEVELS:
            for method in METHODS:
                line = _measured(subject, method, r, limit)
                say(f"  {line}")
                lines.append(line)
    return lines


def _measured(subject: Subject, method: str, r: float, limit: Limit) -> dict[str, Any]:
    table = Table.from_frame(subject.frame, subject.spec.with_(r=r, limit=limit))
    line = {"table": subject.name, "method": method, "r": r, "limit": limit}
    known = Knowledge.of(table)
    try:
        made = [_Told.of(table, known, method, seed) for seed in SEEDS]
    except InputError as refused:
        return {**line, "failed": refused.code}
    classes = KnownClasses.of(table, known)
    found = [one.figures(classes) for one in made]
    rates = {}
    if method == "art":
        first = made[0]
        rates = attack_by_leanings(table, first.grouping, known, first.share, seed=SEEDS[0])
    figures = {
        name: round(float(np.mean([one[name] for one in found])), 4)
        for name in found[0]
        if not name.startswith("worst")
    }
    worst = {
        name: round(max(one[name] for one in found), 4)
        for name in found[0]
        if name.startswith("worst")
    }
    shown = {name: round(rate, 4) for name, rate in rates.items()}
    return {**line, "seeds": len(found), **figures, **worst, **shown}


@dataclass(frozen=True, eq=False)
class _Told:
    """A release, with what it tells of who leans."""

    table: Table
    grouping: Grouping
    share: Floats | None
    release: Release

    @classmethod
    def of(cls, table: Table, known: Knowledge, method: str, seed: int) -> _Told:
        trial = Trial.run(table, equip(method, {}, None), seed=seed)
        told = fit_leanings(table, known, trial.grouping, seed=seed)
        share = None if told is None else told.share
        return cls(table, trial.grouping, share, trial.leaning(told))

    def figures(self, classes: KnownClasses) -> dict[str, float]:
        equal, leaning = self.release.coded, coded(self.release)
        return {
            "suppressed": float(self.table.rows - self.grouping.published),
            **_figures("equal", self.table, classes.errors(equal), equal),
            **_figures("leanings", self.table, classes.errors(leaning), leaning),
        }


def _figures(
    name: str, table: Table, errors: ClassErrors, published: Published
) -> dict[str, float]:
    assert errors.average is not None
    assert errors.worst is not None
    _, protected = measure_errors(table, published, Workload())
    assert protected.average is not None
    return {
        "classes": float(len(errors.classes)),
        f"mean_{name}": errors.average,
        f"worst_{name}": abs(errors.worst.error),
        f"far_off_{name}": float(errors.far_off),
        f"queries_{name}": protected.average,
    }
