"""The published tables tell of published rows only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal.errors import InputError
from shoal.grouping import Form, Grouping
from shoal.grouping.generalization import generalize
from shoal.release.tables import Tables, build_tables, canonical
from shoal.spec import Spec
from shoal.table import Table

SPEC = Spec(qi=("age", "job"), sensitive="v", protect=(("b", "x"), ("d",)), r=2)  # type: ignore[arg-type]


def random_frame(seed: int, rows: int = 60) -> tuple[pl.DataFrame, np.ndarray]:
    random = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": random.integers(0, 40, rows),
            "job": random.choice(["m", "k", "p", "q"], rows),
            "v": ["b", "x", "d", *random.choice(list("abcdxyz"), rows - 3)],
        }
    )
    groups = random.integers(0, 20, rows)
    groups[3:][random.random(rows - 3) < 0.3] = -1
    used = np.unique(groups[groups >= 0])
    return frame, np.where(groups < 0, -1, np.searchsorted(used, groups)).astype(np.int32)


def tables_of(frame: pl.DataFrame, groups: np.ndarray, form: Form) -> Tables:
    table = Table.from_frame(frame, SPEC)
    recodings = generalize(table, groups, {}) if form == "generalized" else ()
    pooled = np.arange(groups.max() + 1) % 3 == 0
    return build_tables(table, Grouping(groups, form=form, recodings=recodings, pooled=pooled))


@pytest.mark.parametrize("form", ["bucketized", "generalized"])
@pytest.mark.parametrize("seed", range(12))
def test_who_is_suppressed_leaves_no_trace(seed: int, form: Form) -> None:
    frame, groups = random_frame(seed)
    kept = groups >= 0
    with_them = tables_of(frame, groups, form)
    without = tables_of(frame.filter(pl.Series(kept)), groups[kept], form)
    for one, other in zip(with_them[:4], without[:4], strict=True):
        if one is None or other is None:
            assert one is other is None
            continue
        text = pl.col(pl.Enum).cast(pl.String)
        assert_frame_equal(one.with_columns(text), other.with_columns(text))
    assert with_them[4][kept].tolist() == without[4].tolist()


@pytest.mark.parametrize("seed", range(4))
def test_numbers_do_not_depend_on_how_groups_were_numbered(seed: int) -> None:
    frame, groups = random_frame(seed)
    table = Table.from_frame(frame, SPEC)
    other = np.random.default_rng(seed).permutation(groups.max() + 1).astype(np.int32)
    renumbered = np.where(groups < 0, -1, other[groups]).astype(np.int32)
    one, two = canonical(table, Grouping(groups)), canonical(table, Grouping(renumbered))
    tables = [build_tables(table, grouping) for grouping in (one, two)]
    assert tables[0][0].equals(tables[1][0])
    assert tables[0][1].equals(tables[1][1])
    assert np.array_equal(canonical(table, one).groups, one.groups)
    with_pools = replace(Grouping(groups), pooled=np.arange(groups.max() + 1) % 2 == 0)
    moved = canonical(table, with_pools)
    assert moved.pooled is not None
    assert [moved.pooled[g] for g in moved.groups if g >= 0] == [
        g % 2 == 0 for g in groups if g >= 0
    ]


def test_the_name_of_pooled_values_is_taken() -> None:
    frame = pl.DataFrame({"age": [1, 2], "job": ["a", "b"], "v": ["(other)", "d"]})
    table = Table.from_frame(frame, SPEC.with_(protect=(("d",),)))
    with pytest.raises(InputError) as raised:
        build_tables(table, Grouping(np.zeros(2, np.int32)))
    assert raised.value.code == "value-name"
