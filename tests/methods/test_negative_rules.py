"""Injector's negative rules against their definition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import silent
from shoal.methods.injector.negative_rules import NegativeRules, mine
from tests.methods.injector_oracle import Rule, all_rules, denied_by, random_table


def listed(rules: NegativeRules) -> Iterator[Rule]:
    for each in rules.sets:
        for codes, event in zip(each.codes.tolist(), each.event.tolist(), strict=True):
            yield tuple(zip(each.attributes, codes, strict=True)), event


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize(("min_conf", "min_exp"), [(1.0, 0.9), (1.0, 0.0), (0.9, 0.6), (1.0, 1.0)])
def test_rules_are_the_shortest_that_hold(min_conf: float, min_exp: float, most: int) -> None:
    total = 0
    for seed, protect in enumerate([None, ["A", "C"], [["A", "B"]]]):
        table = random_table(seed, rows=90, protect=protect)
        rules = mine(
            table,
            min_conf=min_conf,
            min_exp=min_exp,
            max_attributes=most,
            progress=silent,
        )
        every = all_rules(table, min_conf=min_conf, min_exp=min_exp, most=most)
        shortest = {
            (items, event)
            for items, event in every
            if not any(
                (part, event) in every
                for size in range(1, len(items))
                for part in combinations(items, size)
            )
        }
        assert set(listed(rules)) == shortest
        assert rules.count == len(shortest)
        denied = denied_by(table, every)[:, : len(table.events)]
        assert np.array_equal(rules.impossible[table.row_signature], denied)
        total += rules.count
    assert total > 0 or min_exp == 1


def test_a_rule_says_what_never_happens_where_it_was_to_be_expected() -> None:
    frame = pl.DataFrame({"sex": list("fm" * 20), "x": [*"ABBB"] * 10})
    table = Table.from_frame(frame, Spec(qi=("sex",), sensitive="x", r=2, protect=("A",)))
    rules = mine(table, min_conf=1.0, min_exp=0.9, max_attributes=None, progress=silent)
    assert [*listed(rules)] == [(((0, 1),), 0)]  # m => not A
    rare = mine(table, min_conf=1.0, min_exp=0.9999, max_attributes=None, progress=silent)
    assert rare.count == 0  # 1 - 0.75^20 = 0.9968
