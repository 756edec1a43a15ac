"""Honest releases are never refuted, whatever their columns hold."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.release.verification.verify import verify
from tests.data.sources.expect import fails_with

pytestmark = pytest.mark.filterwarnings("ignore::shoal.data.spec.InputWarning")

ROWS = 240
KINDS: dict[str, tuple[list[Any], Any]] = {
    "integers": ([-(2**40), -1, 0, 7, None], pl.Int64),
    "long integers": ([2**63, 2**64 - 1, 5], pl.UInt64),
    "floats": ([0.1, -0.0, 1e300, 2.0, float("nan"), float("-inf"), None], pl.Float64),
    "short floats": ([0.1, 16777217.0, 2.5], pl.Float32),
    "decimals": ([Decimal("1.50"), Decimal("2.00"), Decimal("-0.25")], pl.Decimal(10, 2)),
    "booleans": ([True, False, None], pl.Boolean),
    "dates": ([date(1990, 1, 1), date(2020, 2, 29), None], pl.Date),
    "times": ([time(0), time(23, 59, 59, 999999), None], pl.Time),
    "datetimes": ([datetime(2020, 1, 1, 1, 2, 3, 4), datetime(1969, 12, 31)], pl.Datetime("us")),
    "zones": (
        [datetime(2020, 10, 25, hour, tzinfo=UTC) for hour in (0, 1)],
        pl.Datetime("ms", "UTC"),
    ),
    "categories": (["b", "a", "B"], pl.Categorical),
    "texts": (["", " ", "a", "A", "é", "e\u0301", "日本", None], pl.String),
    "formulas": (["=1+1", "-9", "'x", "@y", "＝z", "\ta"], pl.String),
    "quotes": (['"', "a,b", "a\nb", "a\rb", "'", ";"], pl.String),
    "endings": (["a", "a\0", "a\0\0", "\0"], pl.String),
    "pipes": (["a | b", "a", "b", "a | "], pl.String),
    "long texts": (["x" * 5000, "x" * 5001], pl.String),
    "words of ours": (["(missing)", "gid", "count", "age: x", "(others)"], pl.String),
}


def column(kind: str, random: np.random.Generator) -> pl.Series:
    values, dtype = KINDS[kind]
    places = random.integers(0, len(values), ROWS)
    return pl.Series([values[int(place)] for place in places], dtype=dtype)


def holds_nul(values: pl.Series) -> bool:
    return values.dtype == pl.String and bool(values.str.contains("\0", literal=True).any())


def check(release: shoal.Release, frame: pl.DataFrame, home: Path) -> None:
    for format in ("csv", "parquet"):
        folder, private = home / format, home / f"{format}-private"
        if format == "csv" and any(map(holds_nul, frame)):
            with fails_with("csv-inexact", "NUL"):
                release.save(folder, format=format, private=private)
            continue
        release.save(folder, format=format, private=private)
        for given in ({}, {"table": frame, "private": private}):
            found = verify(folder, **given)  # type: ignore[arg-type]
            assert found.confirmed, (format, found)


@pytest.mark.parametrize("form", ["bucketized", "generalized"])
@pytest.mark.parametrize("kind", KINDS)
def test_attributes_of_every_kind(kind: str, form: str, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    ill = random.choice(["HIV", "flu", "cold"], ROWS, p=[0.1, 0.5, 0.4])
    frame = pl.DataFrame({"q": column(kind, random), "p": random.integers(0, 3, ROWS), "s": ill})
    spec = shoal.Spec(qi=["q", "p"], sensitive="s", protect=["HIV"], r=2, min_support=30)
    release = shoal.anonymize(frame, spec, seed=1, form=form, max_suppression=1)
    check(release, frame, tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_sensitive_values_of_every_kind(kind: str, tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    frame = pl.DataFrame({"q": random.integers(0, 3, ROWS), "s": column(kind, random)})
    shown = shoal.Table.from_frame(frame, shoal.Spec(qi=["q"], sensitive="s", r=1.1)).values
    spec = shoal.Spec(
        qi=["q"], sensitive="s", protect=[shoal.Event((shown[0],))], r=1.2, limit="prior"
    )
    release = shoal.anonymize(frame, spec, seed=1, max_suppression=1)
    check(release, frame, tmp_path)
