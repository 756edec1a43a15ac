"""compare: several methods on one table, side by side, and releases of other tools beside them."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from shoal._version import versions
from shoal.attacks import Attack
from shoal.auditing.adversaries.adversary import Adversaries
from shoal.auditing.align import align_release
from shoal.data.table import Table, code_column
from shoal.data.table.frames import to_polars
from shoal.display import card, counted
from shoal.display import number as figure
from shoal.errors import InputError
from shoal.groups import Recoding
from shoal.knowledge import Knowledge
from shoal.planning.comparison.trial import CLASS_ERRORS, RISKS, Trial
from shoal.release.tables import canonical
from shoal.release.utility import Workload
from shoal.wording import verdict_words, visible


@dataclass(frozen=True)
class MethodLine:
    """One method's measures, averaged over its runs; or why it has none."""

    method: str
    measures: dict[str, Any]
    seeds: tuple[int, ...]
    failed: str | None = None
    """Why the method gives no release of this table."""
    unjudged: str | None = None
    """Why the auditor gives no verdict on its release."""
    attack: Attack | None = None
    """What the red team achieves on its first run, if it was let loose."""

    def to_dict(self) -> dict[str, Any]:
        attack = self.attack and self.attack.to_dict()
        told = {"failed": self.failed, "unjudged": self.unjudged, "attack": attack}
        plain = {"method": self.method, **self.measures, "seeds": list(self.seeds)}
        return plain | {name: one for name, one in told.items() if one}


@dataclass(frozen=True)
class Comparison:
    """Methods side by side."""

    lines: tuple[MethodLine, ...]
    rows: int
    r: float
    knowledge: str
    workload: Workload
    machine: dict[str, str]

    def __repr__(self) -> str:
        lines = [": ".join([line[0], ", ".join(line[1:])]) for line in self._figures()]
        more = [f"and {len(lines) - 4:,} more in to_frame()"] if len(lines) > 5 else []
        return "\n  ".join([self._title(), *lines[: 4 if more else 5], *more])

    def _repr_html_(self) -> str:
        return card(self._title(), self._figures())

    def _title(self) -> str:
        methods = counted(len(self.lines), "method")
        return f"Comparison of {methods} on {counted(self.rows, 'row')}, r = {self.r:g}"

    def _figures(self) -> list[list[str]]:
        """One line per method: its verdict, worst link and error, or why there is none."""
        lines = []
        for line in self.lines:
            measures, reason = line.measures, line.failed or line.unjudged
            found = [
                verdict_words(measures["robust"]) if reason is None else "no verdict",
                f"link nearest to its limit {figure(measures['nearest_link'])}",
                f"error {figure(measures['relative_error'])}",
            ]
            lines.append([visible(line.method), *found, *([visible(reason)] if reason else [])])
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines; `methods` has a line per method."""
        return {
            "methods": [line.to_dict() for line in self.lines],
            "rows": self.rows,
            "r": self.r,
            "knowledge": self.knowledge,
            "workload": vars(self.workload),
            "machine": self.machine,
        }

    def to_frame(self) -> pl.DataFrame:
        """One line per method, measures as columns."""
        lines = [
            {key: value for key, value in line.to_dict().items() if key not in ("seeds", "attack")}
            for line in self.lines
        ]
        return pl.DataFrame(lines, infer_schema_length=None)


MEASURES = (
    "seconds",
    "relative_error",
    "relative_error_protected",
    *CLASS_ERRORS,
    *RISKS,
    "suppressed",
    "suppressed_with_event",
    "with_event",
    "pooled",
    "changed",
    "groups",
    "mean_group",
    "mean_group_with_event",
    "zero_queries",
    "zero_queries_protected",
)


def check_compared(
    table: Table, methods: Sequence[str], parameters: Mapping[str, Any], repeat: int
) -> None:
    """An InputError for what cannot be compared."""
    if repeat < 1:
        raise InputError("whole-number", f"repeat is {repeat}.", "Give at least 1.")
    if len(set(methods)) < len(methods):
        raise InputError("name-twice", "A method is named twice.", "Name each method once.")
    for name in parameters:
        if name not in methods:
            raise InputError(
                "method-parameter",
                f'There are parameters for "{name}", which is not compared.',
                "Name it among the methods, or leave them out.",
            )
    if table.several is not None:
        raise InputError(
            "compare-several",
            f"Methods are compared on one sensitive column, and there are "
            f"{len(table.several.columns)}.",
            "Compare them on a spec with one of them.",
        )


def averaged(
    name: str,
    trials: Sequence[Trial],
    knowledge: Knowledge,
    adversary: Adversaries,
    workload: Workload,
    seeds: tuple[int, ...],
) -> MethodLine:
    """What the runs of one method come to."""
    measured: list[dict[str, Any]] = []
    unjudged = None
    for number, trial in enumerate(trials):
        one = trial.losses() | trial.errors(replace(workload, seed=workload.seed + number))
        one |= trial.class_errors(knowledge)
        try:
            seed = workload.seed + number
            one |= trial.risks(knowledge, adversary=adversary, seed=seed)
        except InputError as error:
            unjudged = str(error)
            one |= dict.fromkeys(RISKS)
        measured.append(one)
    return MethodLine(
        name, {key: average(key, measured) for key in MEASURES}, seeds, unjudged=unjudged
    )


def average(key: str, runs: Sequence[Mapping[str, Any]]) -> Any:
    """A measure over runs: seconds as the median, a verdict as the worst, the rest as the mean."""
    values = [one[key] for one in runs if one[key] is not None]
    if len(values) < len(runs):
        return None
    if key == "robust":
        return all(values)
    if key in ("worst_posterior", "nearest_link"):
        return max(values)
    if len(set(values)) == 1:
        return values[0]
    return float(np.median(values) if key == "seconds" else np.mean(values))


def released_trial(original: Table, other: Any, key: str | None) -> Trial:
    """Another tool's release: a label of a QI covers the values that bear it in this table."""
    frame, spec = original.frame, original.spec
    table, grouping, rows = align_release(frame, other, spec, key=key)
    labels = to_polars(other).select(*([key] if key else []), *spec.qi)
    if key:
        keys = to_polars(frame).select(pl.col(key).cast(pl.String))
        labels = labels.with_columns(pl.col(key).cast(pl.String))
        labels = keys.join(labels, on=key, how="left", maintain_order="left")
    assert rows is not None, "rows are at hand here"
    kept = np.flatnonzero(rows >= 0)
    recodings = []
    for position, column in enumerate(table.qi):
        shown, node = code_column(labels[column.name].cast(pl.String))
        covered = np.zeros((len(shown), len(column)), dtype=bool)
        covered[node[kept], table.signatures[table.row_signature[kept], position]] = True
        of_group = np.zeros(grouping.count, dtype=np.int32)
        of_group[rows[kept]] = node[kept]
        recodings.append(Recoding(shown.labels, covered, of_group))
    ranged = replace(grouping, form="generalized", recodings=tuple(recodings))
    return Trial.of(table, canonical(table, ranged), seconds=None)


def machine_note() -> dict[str, str]:
    """What a reader needs to know to judge seconds and to repeat a run."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load": _load(),
        **versions(),
    }


def _load() -> str:
    """How busy the machine was, in processes: above the cores, seconds are too long."""
    try:
        return f"{os.getloadavg()[2]:.1f}"
    except (AttributeError, OSError):
        return "unknown"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
