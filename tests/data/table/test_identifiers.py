"""Identifiers that repeat are refused, however their rows come; missing values repeat nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.data.table.persons import check_identifiers, check_streamed
from shoal.errors import InputError

SPEC = Spec(qi=["sex"], sensitive="illness", protect=["HIV"], r=2, identifiers=["who"])
NAN = float("nan")


def people(who: Sequence[Any], kind: Any = None) -> pl.DataFrame:
    rows = len(who)
    return pl.DataFrame(
        {
            "who": pl.Series(who, dtype=kind),
            "sex": (["f", "m"] * rows)[:rows],
            "illness": (["HIV", "flu", "cold", "flu"] * rows)[:rows],
        }
    )


def slow_counts(values: Sequence[Any]) -> tuple[int, int]:
    """The obvious count: rows with a value, and distinct ones."""
    held = [one for one in values if one is not None and one != "" and one == one]
    return len(held), len(set(held))


@pytest.mark.parametrize(
    ("who", "kind"),
    [
        ([1, 2, 3, 4], None),
        (["a", "b", "", ""], None),
        (["a", None, None, ""], None),
        ([1.5, NAN, NAN, None], None),
        (["a", "b", None, None], pl.Categorical),
        ([None, None, None, None], pl.String),
        ([[1], [2], None, None], None),
    ],
)
def test_rows_with_an_identifier_of_their_own_are_taken(who: list[Any], kind: Any) -> None:
    assert Table.from_frame(people(who, kind), SPEC).rows == 4


@pytest.mark.parametrize(
    ("who", "kind"),
    [
        ([1, 2, 3, 3], None),
        (["a", "b", "", "b"], None),
        ([1.5, NAN, 1.5, None], None),
        (["a", "b", None, "a"], pl.Categorical),
        ([[1], [2], [1], None], None),
    ],
)
def test_an_identifier_that_repeats_is_refused_with_both_counts(who: list[Any], kind: Any) -> None:
    with pytest.raises(InputError) as caught:
        Table.from_frame(people(who, kind), SPEC)
    assert caught.value.code == "identifier-repeats"
    named = sum(one is not None and one != "" and one == one for one in who)
    assert f'"who" repeats: {named} rows have one of {named - 1} values' in caught.value.problem
    assert "one row per person" in caught.value.remedy


def test_objects_cannot_be_compared() -> None:
    who = pl.Series("who", [object(), object()], dtype=pl.Object)
    with pytest.raises(InputError, match="holds objects"):
        Table.from_frame(people([1, 2]).with_columns(who), SPEC)


def test_every_identifier_is_looked_at_by_itself() -> None:
    frame = people([1, 1, 2, 2]).with_columns(stay=pl.Series([1, 2, 3, 4]))
    assert Table.from_frame(frame, SPEC.with_(identifiers="stay")).rows == 4
    with pytest.raises(InputError, match='"who" repeats: 4 rows have one of 2 values'):
        Table.from_frame(frame, SPEC.with_(identifiers=["stay", "who"]))


def test_the_table_is_refused_before_anything_else_is_computed() -> None:
    frame = people([1, 1, 2, 2])
    with pytest.raises(InputError) as caught:
        Table.from_frame(frame, SPEC.with_(protect=["no such value"]))
    assert caught.value.code == "identifier-repeats"


@pytest.mark.parametrize("seed", range(40))
def test_rows_that_come_some_after_the_other_are_judged_alike(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(seed)
    rows, values = int(random.integers(1, 40)), int(random.integers(2, 900))
    drawn = random.integers(0, values, rows).tolist()
    who = [None if one == 0 else "" if one == 1 else f"p{one}" for one in drawn]
    frame = people(who, pl.String)
    cuts = sorted({0, rows, *random.integers(0, rows + 1, 3).tolist()})
    parts = [frame[i:j] for i, j in pairwise(cuts)]
    if seed % 2:  # hashes that nearly all collide change nothing
        true = pl.Series.hash
        monkeypatch.setattr(pl.Series, "hash", lambda column: true(column) % 3)
    named, distinct = slow_counts(who)
    for check in (
        lambda: check_identifiers(frame, SPEC),
        lambda: check_streamed(lambda: parts, SPEC),
    ):
        if named == distinct:
            check()
        else:
            with pytest.raises(InputError, match=f"{named} rows have one of {distinct} values"):
                check()
