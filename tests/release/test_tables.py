"""The published tables tell of published rows only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.engines import Dealt, Runs
from shoal.engines.dealing import deal
from shoal.errors import InputError
from shoal.groups import FormName, Grouping
from shoal.groups.generalization import generalize
from shoal.release.tables import build_tables, canonical, check_names

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


def tables_of(
    frame: pl.DataFrame, groups: np.ndarray, form: FormName
) -> tuple[pl.DataFrame | None, ...]:
    table = Table.from_frame(frame, SPEC)
    pooled = np.arange(groups.max() + 1) % 3 == 0
    grouping = Grouping.of_rows(table, groups, pooled=pooled)
    if form == "generalized":
        recodings = generalize(table, grouping.group, grouping.signature, {})
        grouping = replace(grouping, form=form, recodings=recodings)
    made = build_tables(table, canonical(table, grouping), Dealt(groups, table.row_value))
    return tuple(one.frame() if isinstance(one, Runs) else one for one in made)


@pytest.mark.parametrize("form", ["bucketized", "generalized"])
@pytest.mark.parametrize("seed", range(12))
def test_who_is_suppressed_leaves_no_trace(seed: int, form: FormName) -> None:
    frame, groups = random_frame(seed)
    kept = groups >= 0
    with_them = tables_of(frame, groups, form)
    without = tables_of(frame.filter(pl.Series(kept)), groups[kept], form)
    for one, other in zip(with_them, without, strict=True):
        if one is None or other is None:
            assert one is other is None
            continue
        text = pl.col(pl.Enum).cast(pl.String)
        assert_frame_equal(one.with_columns(text), other.with_columns(text))


def contents(grouping: Grouping, pooled: np.ndarray) -> list[tuple[bool, list[tuple[int, ...]]]]:
    """What the groups hold and whether they are pooled, whatever their numbers are."""
    lines = np.stack([grouping.signature, grouping.value, grouping.rows], axis=1).tolist()
    return sorted(
        (bool(pooled[g]), [tuple(lines[i]) for i in np.flatnonzero(grouping.group == g)])
        for g in range(len(grouping.copies))
    )


@pytest.mark.parametrize("seed", range(4))
def test_numbers_do_not_depend_on_how_groups_were_numbered(seed: int) -> None:
    frame, groups = random_frame(seed)
    table = Table.from_frame(frame, SPEC)
    other = np.random.default_rng(seed).permutation(groups.max() + 1).astype(np.int32)
    renumbered = np.where(groups < 0, -1, other[groups]).astype(np.int32)
    one, two = (
        canonical(table, Grouping.of_rows(table, groups)),
        canonical(table, Grouping.of_rows(table, renumbered)),
    )
    tables = [build_tables(table, grouping, deal(table, grouping)) for grouping in (one, two)]
    assert tables[0][0].frame().equals(tables[1][0].frame())
    assert tables[0][1].frame().equals(tables[1][1].frame())
    assert np.array_equal(canonical(table, one).group, one.group)
    pools = np.arange(groups.max() + 1) % 2 == 0
    moved = canonical(table, Grouping.of_rows(table, groups, pooled=pools))
    assert moved.pooled is not None
    assert contents(moved, moved.pooled) == contents(Grouping.of_rows(table, groups), pools)


def test_the_name_of_pooled_values_is_taken() -> None:
    frame = pl.DataFrame({"age": [1, 2], "job": ["a", "b"], "v": ["(other)", "d"]})
    table = Table.from_frame(frame, SPEC.with_(protect=(("d",),)))
    with pytest.raises(InputError) as raised:
        check_names(table)
    assert raised.value.code == "value-name"
