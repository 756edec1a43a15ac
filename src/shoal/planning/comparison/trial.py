"""Measure: one method on one table, with the paper's four measures and those that it lacks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import polars as pl

from shoal.attacks import Attack, Scene, as_attackers
from shoal.attacks import run as attack
from shoal.auditing.adversaries.adversary import USUAL, Adversaries
from shoal.auditing.audit import audit as judge
from shoal.auditing.verdict import Audit
from shoal.data.table import Table
from shoal.data.table.hierarchy import Hierarchy
from shoal.errors import InputError
from shoal.groups import Anonymizer, Grouping, Progress, silent
from shoal.knowledge import Knowledge
from shoal.methods.registry import make_method, parameters_of
from shoal.release import Release
from shoal.release.tables import build_tables, canonical
from shoal.release.utility import KnownClasses, Published, Workload, measure_errors

WARM_ROWS = 2_000


def equip(
    method: str, parameters: Mapping[str, Any], hierarchies: Mapping[str, Hierarchy] | None
) -> Anonymizer:
    """A method with its parameters, and with hierarchies where it takes them."""
    given = dict(parameters)
    if hierarchies and any(one.name == "hierarchies" for one in parameters_of(method)):
        given.setdefault("hierarchies", dict(hierarchies))
    return make_method(method, given)


@dataclass(frozen=True, eq=False)
class Trial:
    """One grouping of one table, ready to be measured."""

    table: Table
    grouping: Grouping
    release: Release
    seconds: float | None
    """What the method took: reading the table and judging the result are not part of it."""

    @classmethod
    def run(
        cls, table: Table, method: Anonymizer, *, seed: int, progress: Progress = silent
    ) -> Trial:
        started = time.perf_counter()
        grouping = method.anonymize(table, seed=seed, progress=progress)
        return cls.of(table, canonical(table, grouping), seconds=time.perf_counter() - started)

    @classmethod
    def of(cls, table: Table, grouping: Grouping, *, seconds: float | None) -> Trial:
        """Of groups as they are published (`canonical`)."""
        qi, sensitive, members, ranges = build_tables(table, grouping)
        release = Release(table.spec, grouping.form, qi, sensitive, members, ranges, {})
        return cls(table, grouping, release, seconds)

    @property
    def published(self) -> Published:
        return self.release.coded

    def losses(self) -> dict[str, Any]:
        """Rows that are suppressed, pooled or changed, and group sizes."""
        grouping, table = self.grouping, self.table
        carrying = np.zeros(len(grouping.copies), bool)
        carrying[grouping.group[table.value_event[grouping.value] >= 0]] = True
        copies, people = grouping.copies, grouping.sizes * grouping.copies
        pooled = 0 if grouping.pooled is None else int(people[grouping.pooled].sum())
        return {
            "seconds": self.seconds,
            "suppressed": table.rows - grouping.published,
            "suppressed_with_event": table.carriers - grouping.carriers(table),
            "with_event": table.carriers,
            "pooled": pooled,
            "changed": grouping.values_changed,
            "groups": grouping.count,
            "mean_group": grouping.published / grouping.count,
            "mean_group_with_event": (
                float(people[carrying].sum() / copies[carrying].sum()) if carrying.any() else 0.0
            ),
        }

    def errors(self, workload: Workload) -> dict[str, Any]:
        """Relative errors of a workload's queries."""
        every, protected = measure_errors(self.table, self.published, workload)
        return {
            "relative_error": every.average,
            "relative_error_median": every.median,
            "relative_error_95": every.percentile_95,
            "relative_error_protected": protected.average,
            "relative_error_protected_median": protected.median,
            "relative_error_protected_95": protected.percentile_95,
            "zero_queries": every.zero_share,
            "zero_queries_protected": protected.zero_share,
        }

    def class_errors(self, knowledge: Knowledge) -> dict[str, Any]:
        """Errors of counts by class of people."""
        counted = KnownClasses.of(self.table, knowledge).errors(self.published)
        return {
            "classes": len(counted.classes),
            "class_error": counted.average,
            "class_error_worst": counted.worst and abs(counted.worst.error),
            "classes_far_off": counted.far_off_share,
            "classes_covered": counted.covered,
        }

    def risks(
        self,
        knowledge: Knowledge,
        *,
        adversary: Adversaries = USUAL,
        seed: int = 0,
        progress: Progress = silent,
    ) -> dict[str, Any]:
        """The auditor's measures."""
        audit: Audit = judge(
            self.table,
            self.grouping,
            knowledge=knowledge,
            adversary=adversary,
            seed=seed,
            progress=progress,
        )
        return {name: of(audit) for name, of in RISKS.items()}

    def attacked(
        self, knowledge: Knowledge, method: Anonymizer | None, *, seed: int, progress: Progress
    ) -> Attack:
        """What the red team achieves; its insider makes other releases by the method, if any."""
        remake = None if method is None else lambda table, seed: method.anonymize(table, seed=seed)
        scene = Scene(
            table=self.table,
            grouping=self.grouping,
            knowledge=knowledge,
            limit=self.table.spec.limit,
            exact=self.grouping.form == "bucketized",
            remake=remake,
            seed=seed,
        )
        return attack(scene, as_attackers(None), progress=progress)


def _possible(audit: Audit) -> float:
    """The problematic share if everybody who could not be judged were problematic."""
    risks = audit.risks
    open_ = (risks.worst["problematic"] | risks.worst["undecided"]).to_numpy()
    found = risks.partition.cases_of(risks.held[open_])
    return float(found / max(1, audit.carriers))


CLASS_ERRORS = ("classes", "class_error", "class_error_worst", "classes_far_off", "classes_covered")
RISKS: dict[str, Callable[[Audit], Any]] = {
    "robust": attrgetter("robust"),
    "worst_posterior": attrgetter("worst_posterior"),
    "nearest_link": attrgetter("nearest_link"),
    "problematic_share": attrgetter("problematic_share"),
    "guess_rate": attrgetter("guess_rate.worst"),
    "average_delta": attrgetter("average_delta"),
    "average_delta_carrying": attrgetter("average_delta_carrying"),
    "theoretical_bound": attrgetter("average_bound"),
    "problematic_share_possible": _possible,
    "exact_share": attrgetter("exact_share"),
    "known_before": attrgetter("known_before"),
    "theorem1_groups": attrgetter("theorem1_groups"),
    "event_groups": attrgetter("event_groups"),
    "counter_share": lambda one: one.counter.carriers / max(1, one.risks.table.carriers),
    "counter_certain": attrgetter("counter.certain"),
    "absence_carriers": attrgetter("absence.carriers"),
}


def warm_up(table: Table, methods: Iterable[Anonymizer]) -> None:
    """Runs methods on a small sample, so that compiling is no part of what is timed."""
    one = table if table.several is None else table.several.columns[0]
    frame = pl.DataFrame(
        {
            **{
                column.name: column.values[table.signatures[table.row_signature, i]]
                for i, column in enumerate(table.qi)
            },
            one.members.name: one.members.values[one.row_member],
        }
    )
    first = np.unique(table.row_member, return_index=True)[1]
    rows = np.union1d(first, np.arange(min(table.rows, WARM_ROWS)))
    support = max(2, table.min_support * len(rows) // table.rows)
    # These values are recoded already, and identifiers are not among them.
    spec = one.spec.unnamed(min_support=support, recode=(), k=None, weight=None)
    for method in methods:
        try:
            sample = Table.from_frame(frame[rows], spec)
            trial = Trial.run(sample, method, seed=0)
            trial.errors(Workload(queries=64))
        except InputError:
            continue
