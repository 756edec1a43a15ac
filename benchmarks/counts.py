"""How right recipients count: carriers by class of people and the paper's event queries; and how
often stated 95 % intervals hold the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.settings import Subject, adult_subject, diabetes_subject, hospital_subject
from benchmarks.stages import Say
from shoal.data.spec import Limit
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Knowledge
from shoal.planning.comparison.trial import Trial, equip
from shoal.release.utility import KnownClasses, Workload
from shoal.release.utility.summary import measure_errors

LEVELS: tuple[tuple[float, Limit], ...] = (
    (2.0, "absolute"),
    (3.0, "absolute"),
    (5.0, "absolute"),
    (10.0, "prior"),
)
SEEDS = (1, 2, 3)
HOSPITAL_ROWS = 100_000
METHODS = ("art", "anatomy")


def measure_counts(say: Say) -> list[dict[str, Any]]:
    """A line per table, method and r, over some seeds."""
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
    classes = KnownClasses.of(table, Knowledge.of(table))
    try:
        made = [Trial.run(table, equip(method, {}, None), seed=seed) for seed in SEEDS]
    except InputError as refused:
        return {**line, "failed": refused.code}
    found = [_figures(trial, classes) for trial in made]
    together = {
        name: (max if name == "worst" else np.mean)([one[name] for one in found])
        for name in found[0]
    }
    figures = {name: round(float(figure), 4) for name, figure in together.items()}
    return {**line, "seeds": len(found), **figures}


def _figures(trial: Trial, classes: KnownClasses) -> dict[str, float]:
    errors = classes.errors(trial.published)
    assert errors.average is not None
    assert errors.worst is not None
    assert errors.covered is not None
    _, protected = measure_errors(trial.table, trial.published, Workload())
    assert protected.average is not None
    return {
        "suppressed": float(trial.table.rows - trial.grouping.published),
        "classes": float(len(errors.classes)),
        "mean": errors.average,
        "worst": abs(errors.worst.error),
        "far_off": float(errors.far_off),
        "covered": errors.covered,
        "queries": protected.average,
    }
