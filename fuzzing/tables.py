"""Random small tables, specs and releases: the verdict against the slow twin that writes every
possible world down (tests/oracle)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import factorial, prod
from typing import Any

import numpy as np
import polars as pl

import shoal
from fuzzing.all_views import wrong_of_all_views
from shoal.auditing.audit import audit
from shoal.auditing.verdict import Audit
from shoal.data.table import Table
from shoal.engines.polars import deal
from shoal.groups import Grouping
from shoal.methods.registry import make_method
from tests.oracle import audit as oracle
from tests.oracle import classes, several

ROUNDING = 1e-9
MOST_WORLDS = 1000
"""Releases with a group that has more are drawn again as groups at random."""
EVENTS: tuple[list[shoal.Event] | None, ...] = (
    None,
    [shoal.Event(("a",))],
    [shoal.Event(("a", "b"), label="ab")],
    [shoal.Event(("a", "b"), label="ab", r=3), shoal.Event(("c",))],
    [shoal.Event(("a",), r=1.5), shoal.Event(("b",))],
)
METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("art", {"max_suppression": 1.0}),
    ("art", {"max_suppression": 1.0, "condition": "bound"}),
    ("anatomy", {"l": 2}),
    ("mondrian", {"k": 3}),
)


def judge_table(seed: tuple[int, int]) -> list[str]:
    """What is wrong with the judgement of one table: one sensitive column, or every eighth two."""
    rng = np.random.default_rng(seed)
    return _several(rng) if seed[1] % 8 == 7 else _one(rng)


def _people(rng: np.random.Generator) -> dict[str, Any]:
    rows = int(rng.integers(8, 22))
    return {f"q{i}": rng.choice([*"uvw"][: i + 2], rows) for i in range(rng.integers(1, 3))}


def _one(rng: np.random.Generator) -> list[str]:
    columns = _people(rng)
    rows = len(columns["q0"])
    values = rng.choice([*"abcdde"], rows)
    values[:4] = [*"abcd"]
    frame = pl.DataFrame({**columns, "x": values})
    spec = shoal.Spec(
        qi=[*columns],
        sensitive="x",
        protect=EVENTS[rng.integers(len(EVENTS))],
        r=float(rng.choice([1.3, 1.5, 2, 2.5, 4])),
        min_support=int(rng.integers(1, 7)),
        publish_members=bool(rng.integers(2)),
        limit=rng.choice(["absolute", "prior"]),
    )
    table = Table.from_frame(frame, spec)
    method, grouping = _grouped(table, rng)
    groups = deal(table, grouping).group
    pooled = np.zeros(0, int) if grouping.pooled is None else np.flatnonzero(grouping.pooled)
    case = oracle.Case(
        [tuple(row) for row in frame.select(spec.qi).iter_rows()],
        values.tolist(),
        [None if group < 0 else group for group in groups.tolist()],
        [
            oracle.Protected(one.label, one.values, Fraction(one.r or spec.r))
            for one in table.events
        ],
        spec.min_support,
        members=spec.publish_members,
        pooled=frozenset(pooled.tolist()),
        prior=spec.limit == "prior",
    )
    wrong = []
    for reader in ("joint", "binary"):
        mine = oracle.audit(replace(case, joint=reader == "joint"))
        found = audit(table, grouping, adversary=reader, rows=groups)
        wrong += [f"{method}, {reader}: {one}" for one in _compared(found, mine, case)]
        if method == "art" and any(mine.problematic):
            wrong.append(f"ART links somebody above the limit to the {reader} adversary")
    return wrong + wrong_of_all_views(table, grouping, groups)


def _compared(found: Audit, mine: oracle.Findings, case: oracle.Case) -> list[str]:
    wrong = []
    largest = [max(one.values(), default=Fraction(0)) for one in mine.posterior]
    missing, counted = classes.absence(case), classes.counter(case)
    told = [*missing.classes, *counted.classes, *counted.certain]
    if found.robust and any([*mine.problematic, *told]):
        wrong.append("a false robust")
    if found.robust is not True and not any([*mine.problematic, *mine.tied, *told]):
        wrong.append("robust, and not called so")
    if found.certain != len(counted.certain):
        wrong.append(f"{found.certain} certain by counting, and not {len(counted.certain)}")
    if not any(mine.tied) and found.problematic != sum(mine.problematic):
        wrong.append(f"{found.problematic} problematic, and not {sum(mine.problematic)}")
    worst = max((one.posterior for one in found.worst_by_event.values()), default=0.0)
    if abs(worst - float(max(largest))) > ROUNDING:
        wrong.append(f"worst posterior {worst}, and not {float(max(largest))}")
    for name, counting, told in (
        ("counter", found.counter, counted),
        ("absence", found.absence, missing),
    ):
        if counting is not None and counting.kept is bool(told.classes):
            wrong.append(f"{name} kept: {counting.kept}, and {len(told.classes)} classes fail")
    return wrong


def _grouped(table: Table, rng: np.random.Generator) -> tuple[str, Grouping]:
    """By a method, or at random with some people in no group and some groups pooled."""
    if rng.random() < 0.5:
        name, parameters = METHODS[rng.integers(len(METHODS))]
        try:
            method = make_method(name, parameters)
            made = method.anonymize(table, seed=int(rng.integers(1 << 30)))
            if made.count and _worlds(table, made) <= MOST_WORLDS:
                return name, made
        except shoal.InputError as error:
            if error.code != "ineligible":
                raise
    groups = rng.integers(-1, max(2, table.rows // 3), table.rows)
    groups[0] = 0
    kept = np.unique(groups[groups >= 0], return_inverse=True)[1]
    groups[groups >= 0] = kept
    hidden = rng.random(int(groups.max()) + 1) < 0.3
    made = Grouping.of_rows(table, groups.astype(np.int32), pooled=hidden)
    return ("random", made) if _worlds(table, made) <= MOST_WORLDS else _grouped(table, rng)


def _worlds(table: Table, grouping: Grouping) -> int:
    """How many ways there are to hand the values of a group out, in the group that has most."""
    held: dict[int, Counter[int]] = {}
    shown = grouping.published_values(table).tolist()
    for group, value, rows in zip(
        grouping.group.tolist(), shown, grouping.rows.tolist(), strict=True
    ):
        held.setdefault(group, Counter())[value] += rows
    return max(
        factorial(one.total()) // prod(map(factorial, one.values())) for one in held.values()
    )


def _several(rng: np.random.Generator) -> list[str]:
    """Two sensitive columns, an event on each: every reader's worst case and breaches."""
    columns = _people(rng)
    rows = len(columns["q0"])
    held = {"s": rng.choice(["no", "no", "yes"], rows), "t": rng.choice([*"xyz"], rows)}
    held["s"][:2], held["t"][:3] = ["no", "yes"], [*"xyz"]
    frame = pl.DataFrame({**columns, **held})
    spec = shoal.Spec(
        qi=[*columns],
        sensitive=["s", "t"],
        protect=["s=yes", "t=z"],
        r=float(rng.choice([1.5, 2, 3])),
        min_support=int(rng.integers(1, 7)),
    )
    table = Table.from_frame(frame, spec)
    groups = np.unique(rng.integers(0, max(2, rows // 3), rows), return_inverse=True)[1]
    hidden = rng.random(groups.max() + 1) < 0.4
    grouping = Grouping.of_rows(table, groups.astype(np.int32), pooled=hidden)
    if _worlds(table, grouping) > MOST_WORLDS:
        return _several(rng)
    case = several.Case(
        people=[tuple(row) for row in frame.select(spec.qi).iter_rows()],
        held=[tuple(row) for row in frame.select("s", "t").iter_rows()],
        groups=groups.tolist(),
        events=[{0: {"yes"}}, {1: {"z"}}],
        min_support=spec.min_support,
        pooled=frozenset(np.flatnonzero(hidden).tolist()),
    )
    found = audit(table, grouping, adversary=("joint", "binary"), budget=1e12)
    wrong = []
    for reader, links in several.largest_links(case).items():
        worst, verdict = max(max(row) for row in links), found.by_adversary[reader]
        if abs(verdict.worst_posterior - float(worst)) > ROUNDING:
            wrong.append(f"several, {reader}: {verdict.worst_posterior}, and not {float(worst)}")
        over = sum(float(max(row)) * spec.r > 1 + ROUNDING for row in links)
        least = sum(float(max(row)) * spec.r >= 1 - ROUNDING for row in links)
        if not over <= verdict.problematic <= least:
            wrong.append(f"several, {reader}: {verdict.problematic} problematic, and not {over}")
        if over and (verdict.robust or found.robust):
            wrong.append(f"several, {reader}: a false robust")
    return wrong
