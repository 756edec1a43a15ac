"""shoal's own work on counted cells, at sizes whose rows nobody would keep here.

    python -m benchmarks.cells hospital|wide ROWS

Cells are drawn as multinomial counts, so that no row is ever made. A process of its own for each
table prints, as JSON, seconds of every stage once all is compiled, and the most memory held.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import polars as pl

from benchmarks.memory import SMALL_SUPPORT, peak, start_counting
from benchmarks.settings import hospital_spec
from shoal.auditing.adversaries.adversary import BOTH
from shoal.auditing.audit import audit
from shoal.data.datasets.hospital import (
    AGES,
    DIAGNOSES,
    FEMALE_SHARE,
    INSURANCES,
    OCCUPATIONS,
    REGIONS,
    SEXES,
    _age_weights,
    _band_of_age,
    _diagnosis_probabilities,
    _insurance_weights,
    _names,
    _occupation_weights,
    _shares,
)
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Knowledge
from shoal.methods.art import Art
from shoal.release.certificate import make_certificate
from shoal.release.tables import canonical

Say = Callable[[str], None]
T = TypeVar("T")
SIZES = (1_000_000, 20_000_000, 1_000_000_000)
WIDE_ROWS = (1_000_000, 20_000_000)
WARM_ROWS = 20_000
WIDE_SIZES = (80, 2, 12, 10, 8, 6, 5, 4)
"""How many values each of the eight QIs of the wide table has."""
WIDE_VALUES = 10
SKEW = 1.4
"""The power with which values of the wide table become rarer."""


def measure_cells(say: Say) -> list[dict[str, Any]]:
    """One line per stage and table."""
    lines: list[dict[str, Any]] = []
    tables = [("hospital", rows) for rows in SIZES] + [("wide", rows) for rows in WIDE_ROWS]
    for name, rows in tables:
        say(f" {name}, {rows:,} rows")
        command = [sys.executable, "-m", "benchmarks.cells", name, str(rows)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        measured = json.loads(done.stdout)
        lines += measured
        for line in measured:
            seconds = f"{line['seconds']:9.2f} s {line['cpu']:9.2f} s of CPU"
            size = f"{line['peak'] / 1e6:8,.0f} MB"
            say(f"  {line['stage']:<12}{seconds} {size} {line.get('refused', '')}")
    return lines


def wide_cells(rows: int, seed: int = 0) -> pl.DataFrame:
    """Counted cells of a table with eight skewed QIs: two million signatures in twenty million
    rows. A sensitive value depends on the first two of them a little."""
    random = np.random.default_rng(seed)
    shares = [_skewed(size) for size in WIDE_SIZES]
    draws = np.array([1.0])
    for share in shares:
        draws = np.multiply.outer(draws, share).ravel()
    signature_rows = random.multinomial(rows, draws / draws.sum())
    signature = np.flatnonzero(signature_rows)
    codes = np.unravel_index(signature, WIDE_SIZES)
    value = _skewed(WIDE_VALUES)[None] * np.ones((len(signature), 1))
    value[:, -1] *= 0.5 + codes[0] / WIDE_SIZES[0] + 0.5 * codes[1]
    value /= value.sum(axis=1, keepdims=True)
    counts = random.multinomial(signature_rows[signature], value)
    line, held = np.nonzero(counts)
    return pl.DataFrame(
        {
            **{f"q{k}": code[line].astype(np.int16) for k, code in enumerate(codes)},
            "value": pl.Series([f"v{v}" for v in range(WIDE_VALUES)]).gather(held),
            "rows": counts[line, held],
        }
    )


def wide_spec() -> Spec:
    """The rarest value of the wide table as the event, at r = 5."""
    return Spec(
        qi=tuple(f"q{k}" for k in range(len(WIDE_SIZES))),
        sensitive="value",
        protect=(f"v{WIDE_VALUES - 1}",),  # type: ignore[arg-type]
        r=5,
        min_support=100,
    )


def _skewed(size: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    share = 1.0 / np.arange(1, size + 1) ** SKEW
    return np.asarray(share / share.sum())


def hospital_cells(rows: int, seed: int = 0) -> pl.DataFrame:
    """Counted cells of a hospital of that many patients, whose rows are never made: how many (in
    the column `rows`) have which QI values and diagnosis. For tables too large to be written."""
    sexes = np.array([FEMALE_SHARE, 1 - FEMALE_SHARE])
    band, (ages, jobs) = _band_of_age(), (_age_weights(), _occupation_weights())
    regions, insurances = np.array(list(REGIONS.values())), _insurance_weights()
    sex, age, region, job, insurance, diagnosis = np.indices(
        (2, len(AGES), len(REGIONS), len(OCCUPATIONS), len(INSURANCES), len(DIAGNOSES)), np.int16
    ).reshape(6, -1)
    among = band[age] * 2 + sex
    chance = sexes[sex] * _shares(ages)[sex, age] * _shares(jobs)[among, job]
    chance *= _shares(regions[None])[0, region] * _shares(insurances)[job, insurance]
    chance *= _diagnosis_probabilities()[among * len(OCCUPATIONS) + job, diagnosis]
    drawn = np.random.default_rng(seed).multinomial(rows, chance / chance.sum())
    there = np.flatnonzero(drawn)
    return pl.DataFrame(
        {
            "age": AGES[age[there]],
            "sex": _names(SEXES, sex[there]),
            "region": _names(tuple(REGIONS), region[there]),
            "occupation": _names(tuple(OCCUPATIONS), job[there]),
            "insurance": _names(INSURANCES, insurance[there]),
            "diagnosis": _names(tuple(DIAGNOSES), diagnosis[there]),
            "rows": drawn[there],
        }
    )


def main(name: str, rows: str) -> None:
    """All stages on one table, after a small one that compiles them."""
    hospital = hospital_spec().with_(identifiers=())
    _stages(hospital_cells(WARM_ROWS), hospital.with_(min_support=SMALL_SUPPORT))
    cells, spec = {
        "hospital": lambda count: (hospital_cells(count), hospital),
        "wide": lambda count: (wide_cells(count), wide_spec()),
    }[name](int(rows))
    shown = {"table": name, "rows": int(rows), "cells": cells.height}
    base = start_counting()
    print(json.dumps([{**shown, "base": base, **line} for line in _stages(cells, spec)]))


def _stages(cells: pl.DataFrame, spec: Spec) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []

    def run(stage: str, work: Callable[[], T]) -> T:
        started, cpu = time.perf_counter(), time.process_time()
        result = work()
        seconds = time.perf_counter() - started
        used = time.process_time() - cpu
        lines.append(
            {"stage": stage, "seconds": round(seconds, 3), "cpu": round(used, 3), "peak": peak()}
        )
        return result

    table = run("table", lambda: Table.from_cells(cells, spec))
    known = run("knowledge", lambda: Knowledge.of(table))
    method = Art(max_suppression=1, readers=BOTH, knowledge=known)
    try:
        grouping = run("search", lambda: method.anonymize(table))
    except InputError as refused:  # what would not fit into memory
        nothing = {"stage": "search", "seconds": 0.0, "cpu": 0.0, "peak": peak()}
        return [*lines, {**nothing, "refused": str(refused)}]
    grouping = run("numbering", lambda: canonical(table, grouping))
    found = run("audit", lambda: audit(table, grouping, knowledge=known, adversary=BOTH))
    run(
        "certificate",
        lambda: make_certificate(
            table,
            grouping,
            known,
            found,
            method=method.name,
            parameters={},
            seed=0,
        ),
    )
    lines[-1] |= {
        "robust": found.robust,
        "groups": found.groups,
        "event_groups": found.event_groups,
        "contents": len(grouping.copies),
        "suppressed": found.suppressed,
        "suppressed_carriers": found.suppressed_carriers,
        "people_per_carrier": round(_people(table, grouping) / max(1, found.carriers), 3),
        "guess_rate": found.guess_rate.worst,
        "counter_kept": found.counter.kept,
    }
    return lines


def _people(table: Table, grouping: Any) -> int:
    """How many people are in groups that hold an event."""
    return int((grouping.sizes * grouping.copies)[grouping.holding(table)].sum())


if __name__ == "__main__":
    main(*sys.argv[1:])
