"""Made-up people, and groups of them."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.attacks.lineup import Lineup
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.knowledge import View

QI = ("age", "sex", "town")
VALUES = ("flu", "cough", "gout", "HIV", "TB")
EVENTS = (Event("HIV"), Event("TB", r=4))
SIZE = 5


def made_up(seed: int, rows: int = 120, *, carriers: float = 0.3, min_support: int = 10) -> Table:
    """People whose value has nothing to do with who they are; everybody has a twin."""
    rng = np.random.default_rng(seed)
    share = np.array([*[(1 - carriers) / 3] * 3, *[carriers / 2] * 2])
    frame = pl.DataFrame(
        {
            "age": rng.integers(4, size=rows),
            "sex": rng.choice(["f", "m"], rows),
            "town": rng.choice(["A", "B", "C"], rows),
            "value": rng.choice(VALUES, rows, p=share),
        }
    )
    spec = Spec(qi=QI, sensitive="value", protect=EVENTS, r=2, min_support=min_support)
    return Table.from_frame(pl.concat([frame, frame]), spec)


def some_groups(table: Table, seed: int) -> Grouping:
    """Groups of any values, some of them pooled, some there twice (of twins); a few people are in
    none."""
    rng = np.random.default_rng([seed, 1])
    count = table.rows // 6
    groups = np.full(table.rows, -1, np.int32)
    groups[: table.rows // 2] = rng.permutation(np.arange(table.rows // 2) % (count + 1)) - 1
    copies, pooled = rng.integers(1, 3, count), rng.random(count) < 0.2
    return Grouping.of_rows(table, groups, copies=copies, pooled=pooled)


def chance_in(view: View, table: Table, signature: int, event: int) -> float:
    codes = [v for v, e in enumerate(table.value_event) if e == event]
    return float(sum(view.distributions[view.index[signature], v] for v in codes))


def suspects_of(lineup: Lineup, case: int) -> range:
    return range(int(lineup.start[case]), int(lineup.start[case + 1]))


def deal(table: Table, seed: int) -> Grouping:
    """Groups of one carrier and four others, all drawn at random; whoever is left is alone."""
    rng = np.random.default_rng([seed, 3])
    event = table.everybody.event
    carriers = rng.permutation(np.flatnonzero(event == 0))
    fillers = rng.permutation(np.flatnonzero(event < 0))
    count = min(len(carriers), len(fillers) // (SIZE - 1))
    groups = np.full(table.rows, -1, np.int32)
    groups[carriers[:count]] = np.arange(count)
    inside = count * (SIZE - 1)
    groups[fillers[:inside]] = np.repeat(np.arange(count), SIZE - 1)
    groups[fillers[inside:]] = count + np.arange(len(fillers) - inside)
    return Grouping.of_rows(table, groups)
