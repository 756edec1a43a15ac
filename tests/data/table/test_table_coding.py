"""How a table's columns and their combinations are turned into codes."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import MISSING
from shoal.data.table import code_column, factorize
from shoal.data.table.coding import DIRECT_KEYS


@pytest.mark.parametrize(
    ("series", "labels", "codes", "numeric"),
    [
        (pl.Series([True, None, False]), ("false", "true", MISSING), [1, 2, 0], False),
        (pl.Series(["b", "a", "b"], dtype=pl.Categorical), ("a", "b"), [1, 0, 1], False),
        (pl.Series(["b", "a"], dtype=pl.Enum(["b", "x", "a"])), ("a", "b"), [1, 0], False),
        (pl.Series([None, "b", "a"], dtype=pl.Categorical), ("a", "b", MISSING), [2, 1, 0], False),
        (pl.Series([None, None], dtype=pl.Enum(["x"])), (MISSING,), [0, 0], False),
        (
            pl.Series([date(2020, 5, 1), date(1999, 1, 2)]),
            ("1999-01-02", "2020-05-01"),
            [1, 0],
            False,
        ),
        (
            pl.Series([Decimal("1.5"), None, Decimal("-2")]),
            ("-2.0", "1.5", MISSING),
            [1, 2, 0],
            True,
        ),
        (pl.Series([2**64 - 1, 3], dtype=pl.UInt64), ("3", "18446744073709551615"), [1, 0], True),
        (pl.Series([-5, 3], dtype=pl.Int8), ("-5", "3"), [0, 1], True),
        (pl.Series([0.1, 2.5], dtype=pl.Float32), ("0.1", "2.5"), [0, 1], True),
        (
            pl.Series([-0.0, 0.0, 1234567.0, 1 / 3]),
            ("0", "0.3333333333333333", "1234567"),
            [0, 0, 2, 1],
            True,
        ),
        (pl.Series([None, None]), (MISSING,), [0, 0], False),
        (pl.Series([float("nan"), None, 1.0]), ("1", MISSING), [1, 1, 0], True),
        (pl.Series(["", " ", "a", None]), (" ", "a", MISSING), [2, 0, 1, 2], False),
        (pl.Series(["", "b"], dtype=pl.Categorical), ("b", MISSING), [1, 0], False),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, pl.Series) else "",
)
def test_columns_of_every_type(
    series: pl.Series, labels: tuple[str, ...], codes: list[int], numeric: bool
) -> None:
    column, found = code_column(series.alias("c"))
    assert column.name == "c"
    assert column.labels == labels
    assert found.tolist() == codes
    assert column.numeric is numeric
    assert len(column.values) == len(labels)
    assert column.values.null_count() == labels.count(MISSING)


@pytest.mark.parametrize(
    ("columns", "size", "least", "most"),
    [
        (3, 5, 0, DIRECT_KEYS),
        (2, 6000, DIRECT_KEYS, 2**62),
        (2, 2**31 - 1, 2**61, 2**62),
        (8, 300, 2**62, 2**66),
        (9, 1000, 2**62, 2**90),
        (20, 1000, 2**124, 2**200),
    ],
    ids=["counted", "sorted", "border", "wide", "uneven halves", "wide in both halves"],
)
def test_combinations_against_numpy(columns: int, size: int, least: int, most: int) -> None:
    assert least <= size**columns <= most
    rng = np.random.default_rng(columns)
    pool = rng.integers(0, size, (400, columns), dtype=np.int32)
    pool[0], pool[1] = 0, size - 1
    rows = pool[np.r_[np.arange(400), rng.integers(0, 400, 2000)]]
    inverse, keys = factorize(list(rows.T), [size] * columns)
    distinct, expected = np.unique(rows, axis=0, return_inverse=True)
    assert inverse.dtype == np.int32
    assert np.array_equal(inverse, expected.ravel())
    for key, digits in zip(keys.tolist(), distinct.tolist(), strict=True):
        number = 0
        for digit in digits:
            number = number * size + digit
        assert key == number
