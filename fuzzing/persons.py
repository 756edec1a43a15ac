"""Random tables in which people have several rows: what an audit and a certificate say of all rows
of a person together, against all worlds of what is published (tests/oracle)."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import shoal
from shoal.auditing.audit import audit
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.knowledge import (
    Knowledge,
    View,
    event_chances,
    known_values,
    whole_view,
    with_pool,
)
from tests.oracle.persons import any_row

ROUNDING = 1e-9
LARGEST = 8
"""Releases with a larger group are passed over: it has too many worlds."""
Ints = NDArray[np.integer]


def judge_persons(seed: tuple[int, int]) -> list[str]:
    """What is wrong with one table: in groups at random, or in those of a release."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(8, 22))
    values = rng.choice([*"abcd"], rows, p=[0.15, 0.15, 0.4, 0.3])
    values[:4] = [*"abcd"]
    frame = pl.DataFrame(
        {
            "who": rng.integers(0, 1 + 2 * rows // 3, rows).astype(str),
            "q": rng.choice([*"uv"], rows),
            "p": rng.choice([*"uvw"], rows),
            "x": values,
        }
    )
    if not frame["who"].is_duplicated().any():
        return judge_persons((seed[0], seed[1] + 1_000_003))
    spec = shoal.Spec(
        qi=["q", "p"],
        sensitive="x",
        protect=[["a"], ["b"]][: rng.integers(1, 3)],
        r=float(rng.choice([1.2, 1.5, 2, 3])),
        min_support=int(rng.integers(2, 6)),
        limit=rng.choice(["absolute", "prior"]),
        person="who",
    )
    made = _published(frame, spec, rng) if rng.random() < 0.5 else _at_random(frame, spec, rng)
    return [] if made is None else _wrong(*made)


def _at_random(
    frame: pl.DataFrame, spec: shoal.Spec, rng: np.random.Generator
) -> tuple[Table, Ints, NDArray[np.bool_], dict[str, Any], list[str]]:
    """Groups of two to five rows, some of them pooled, as an audit judges them."""
    table = Table.from_frame(frame, spec)
    groups = (np.arange(table.rows) // int(rng.integers(2, 6)))[rng.permutation(table.rows)]
    hidden = rng.random(int(groups.max()) + 1) < 0.3
    reader = str(rng.choice(["joint", "binary"]))
    grouping = Grouping.of_rows(table, groups.astype(np.int32), pooled=hidden)
    found = audit(table, grouping, adversary=reader, rows=groups.astype(np.int32)).persons
    assert found is not None
    return table, groups, hidden, asdict(found), [reader]


def _published(
    frame: pl.DataFrame, spec: shoal.Spec, rng: np.random.Generator
) -> tuple[Table, Ints, NDArray[np.bool_], dict[str, Any], list[str]] | None:
    """The groups of a release, as its certificate tells of them; None if there is none."""
    try:
        release = shoal.anonymize(
            frame, spec, seed=int(rng.integers(1 << 30)), max_suppression=1, smallest_group=1
        )
    except shoal.InputError:
        return None
    grouping, told = release.made.grouping, release.certificate["person"].get("any_row")
    if told is None or grouping is None or grouping.sizes.max() > LARGEST:
        return None
    assert release.row_groups is not None
    rows = np.asarray(release.row_groups, np.int64)
    groups = np.where(rows < 0, -1, rows - 1)
    hidden = np.zeros(int(groups.max()) + 1, bool)
    if grouping.pooled is not None:
        hidden = np.repeat(grouping.pooled, grouping.copies)[: len(hidden)]
    return Table.from_frame(frame, spec), groups, hidden, told, ["joint", "binary"]


def _wrong(
    table: Table, groups: Ints, hidden: NDArray[np.bool_], told: dict[str, Any], readers: list[str]
) -> list[str]:
    """What is said of a person is never less than what all worlds tell."""
    assert table.persons is not None
    assert table.persons.of_row is not None
    owner = table.persons.of_row.tolist()
    holding = {g for g, e in zip(groups.tolist(), table.row_event, strict=True) if e >= 0 <= g}
    often = Counter(p for p, g in zip(owner, groups.tolist(), strict=True) if g in holding)
    several = {person for person, count in often.items() if count > 1}
    wrong, above, views = [], set[int](), [*Knowledge.of(table).views]
    if table.spec.limit == "absolute":
        views.append(whole_view(known_values(table)))
    for reader, view, event in itertools.product(readers, views, range(len(table.events))):
        truth = _truth(table, groups, hidden, view, event, by_value=reader == "joint")
        before = event_chances(view, table)[view.index, event][table.row_signature]
        for person in several:
            if truth[person] > told["worst"] + ROUNDING:
                wrong.append(f"{reader}: {truth[person]}, said to be at most {told['worst']}")
            mine = [1 - f for f, p in zip(before.tolist(), owner, strict=True) if p == person]
            known = 1 - math.prod(mine) if table.spec.limit == "prior" else 0.0
            if truth[person] > max(1 / table.event_r[event], known) + 2 * ROUNDING:
                above.add(person)
    if told["several"] != len(several):
        wrong.append(f"{told['several']} people with several rows, and not {len(several)}")
    if above and told["kept"]:
        wrong.append(f"a false promise to {len(above)} people")
    if len(readers) == 1 and not told["above"] <= len(above) <= told["above"] + told["undecided"]:
        wrong.append(f"{told['above']} people above their limit, and not {len(above)}")
    if readers == ["binary"] and len(table.events) == 1 and told["undecided"]:
        wrong.append(f"{told['undecided']} people not decided, though all can be computed")
    return wrong


def _truth(
    table: Table, groups: Ints, hidden: NDArray[np.bool_], view: View, event: int, *, by_value: bool
) -> dict[int, float]:
    assert table.persons is not None
    assert table.persons.of_row is not None
    at, owner = view.index[table.row_signature], table.persons.of_row.tolist()
    if not by_value:
        chance = event_chances(view, table)[at, event]
        has = (~table.holds(event)[table.row_value]).astype(int)
        told = np.column_stack([chance, 1 - chance])
        return any_row(told.tolist(), has.tolist(), groups.tolist(), owner, {0})
    pool = hidden[groups] & (groups >= 0) & (table.row_event < 0)
    shown = np.where(pool, len(table.values), table.row_value)
    told, own = with_pool(view, table)[at], np.flatnonzero(table.holds(event)).tolist()
    return any_row(told.tolist(), shown.tolist(), groups.tolist(), owner, own)
