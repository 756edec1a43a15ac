"""Injector the slow, obvious way: rules by their definition, buckets by every permutation."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations, product

import numpy as np
import polars as pl

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from tests.dealing import row_groups

QI = ("sex", "job", "town")


def random_table(seed: int, *, rows: int, protect: list[str] | None, values: int = 5) -> Table:
    """Some values are rare or absent among some sexes, jobs and towns."""
    rng = np.random.default_rng(seed)
    codes = {"sex": rng.integers(2, size=rows), "job": rng.integers(3, size=rows)}
    codes["town"] = rng.integers(3, size=rows)
    weight = np.ones((rows, values))
    for column in codes.values():
        for code, value in product(range(3), range(values)):
            if rng.random() < 0.2:
                weight[column == code, value] *= rng.choice([0.0, 0.1])
    weight += 1e-9
    shares = np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)
    drawn = np.minimum((rng.random(rows)[:, None] > shares).sum(axis=1), values - 1)
    drawn[:values] = np.arange(values)  # each value at least once
    frame = pl.DataFrame(codes).with_columns(x=pl.Series(np.array([*"ABCDEFGH"])[drawn]))
    chosen = Spec.from_mapping({"qi": QI, "sensitive": "x", "r": 2, "protect": protect})
    return Table.from_frame(frame, chosen)


Rule = tuple[tuple[tuple[int, int], ...], int]


def rows_with(table: Table, items: tuple[tuple[int, int], ...]) -> np.ndarray:
    """Which rows have all these (QI position, code) pairs."""
    codes = table.signatures[table.row_signature]
    return np.all([codes[:, position] == code for position, code in items], axis=0)


def all_rules(table: Table, *, min_conf: float, min_exp: float, most: int) -> set[Rule]:
    """Every rule, long ones included, by its definition and row by row."""
    found = set()
    for size in range(1, most + 1):
        for positions in combinations(range(len(table.qi)), size):
            for codes in product(*(range(len(table.qi[position])) for position in positions)):
                items = tuple(zip(positions, codes, strict=True))
                having = rows_with(table, items)
                for event in range(len(table.events)):
                    share = (table.row_event == event).mean()
                    both = (having & (table.row_event == event)).sum()
                    if having.any() and (
                        1 - both / having.sum() >= min_conf
                        and 1 - (1 - share) ** having.sum() >= min_exp
                    ):
                        found.add((items, event))
    return found


def denied_by(table: Table, rules: set[Rule]) -> np.ndarray:
    """rows x (events and none): what the rules make impossible."""
    denied = np.zeros((table.rows, len(table.events) + 1), dtype=bool)
    for items, event in rules:
        denied[rows_with(table, items), event] = True
    return denied


def given_by_matchings(possible: np.ndarray) -> np.ndarray:
    """rows x values: whether some permutation that keeps to what is possible has it."""
    size = len(possible)
    found = np.zeros_like(possible)
    for values in permutations(range(size)):
        if all(possible[row, value] for row, value in enumerate(values)):
            found[range(size), values] = True
    return found


def check_buckets(table: Table, grouping: Grouping, denied: np.ndarray, l: int) -> int:
    """Every bucket is fine; how many have an edge that is not possible."""
    events = len(table.events)
    event = np.where(table.row_event < 0, events, table.row_event)
    incomplete = 0
    group = row_groups(table, grouping)
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(grouping.count + 1))
    for first, last in pairwise(edges.tolist()):
        rows = order[first:last]
        carried = event[rows][event[rows] < events]
        assert len(set(carried.tolist())) == len(carried)
        possible = ~denied[np.ix_(rows, event[rows])]
        if possible.all():
            assert len(rows) >= l
            continue
        incomplete += 1
        fine = given_by_matchings(possible)
        assert fine.sum(axis=1).min() >= l
        assert fine.sum(axis=0)[event[rows] < events].min(initial=len(rows)) >= l
    return incomplete
