"""Every kind of QI value is the same after a release was saved and loaded, or saving is refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import frictionless
import polars as pl
import pytest

import shoal
from shoal.data.spec import Event, Spec
from shoal.errors import InputError
from shoal.release import Release
from shoal.release.verification.verify import verify

SPEC = Spec(qi=("q",), sensitive="s", protect=(Event(("x",)),), r=2, min_support=5)
SENSITIVE = [*"xyzwvut"] * 20
CLOCKS_SET_BACK = [dt.datetime(2000, 10, 29, 0, 30), dt.datetime(2000, 10, 29, 1, 30)]
"""Both are half past two in Berlin."""


def table(values: list[Any], dtype: Any) -> pl.DataFrame:
    column = pl.Series("q", values, dtype=dtype)
    return pl.DataFrame({"q": column.gather([i % len(column) for i in range(140)]), "s": SENSITIVE})


KINDS: dict[str, tuple[list[Any], Any]] = {
    "long integers": ([2**62, 2**62 + 1, 2**53, 2**53 + 1, None], pl.Int64),
    "longest integers": ([2**64 - 1, 2**64 - 2, 2**63, 0], pl.UInt64),
    "short floats": ([0.1, 0.2, 1e-7, 3.4e38, -0.0], pl.Float32),
    "floats": ([0.1, 0.30000000000000004, 0.3, 1e300, float("inf")], pl.Float64),
    "decimals": ([Decimal("0.10"), Decimal("12345.67"), None], pl.Decimal(20, 2)),
    "dates": ([dt.date(1, 1, 1), dt.date(2000, 2, 29), None], pl.Date),
    "times": ([dt.time(3, 4), dt.time(5, 6, 7, 8), None], pl.Time),
    "milliseconds": ([1, 2, 10**12], pl.Datetime("ms")),
    "microseconds": ([1, 2, -(10**16)], pl.Datetime("us")),
    "nanoseconds": ([1, 2, 10**18 + 1, None], pl.Datetime("ns")),
    "time zone": (CLOCKS_SET_BACK, pl.Datetime("us", "UTC")),
    "booleans": ([True, False, None], pl.Boolean),
    "categories": (["a", "'=b", "01", None], pl.Categorical),
}


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("kind", KINDS)
def test_values_come_back_and_are_confirmed(kind: str, format: str, tmp_path: Path) -> None:
    frame = table(*KINDS[kind])
    if kind == "time zone":
        frame = frame.with_columns(pl.col("q").dt.convert_time_zone("Europe/Berlin"))
    release = shoal.anonymize(frame, SPEC)
    release.save(tmp_path / "release", format=format)
    found = verify(tmp_path / "release", table=frame)
    assert found.confirmed, [check for check in found.checks if not check.passed]
    if format == "csv":
        assert frictionless.validate(str(tmp_path / "release" / "datapackage.json")).valid
    loaded, saved = Release.load(tmp_path / "release").qi["q"], release.qi["q"]
    if isinstance(saved.dtype, pl.Datetime | pl.Time):
        assert loaded.dtype == saved.dtype
    assert loaded.cast(saved.dtype).equals(saved)


def test_integers_beyond_the_precision_of_floats_are_told_apart(tmp_path: Path) -> None:
    """2**53 and 2**53 + 1 are the same float: nobody of the one may be published as the other."""
    frame = table([2**53, 2**53 + 1], pl.Int64)
    shoal.anonymize(frame, SPEC).save(tmp_path / "release")
    other = frame.with_columns(q=pl.when(pl.col("q") == 2**53 + 1).then(2**53).otherwise("q"))
    assert not verify(tmp_path / "release", table=other).confirmed


def test_a_short_float_is_not_its_nearest_long_float(tmp_path: Path) -> None:
    frame = table([0.1, 0.2], pl.Float32)
    shoal.anonymize(frame, SPEC).save(tmp_path / "release")
    assert verify(tmp_path / "release", table=table([0.1, 0.2], pl.Float64)).confirmed
    near = frame.with_columns(pl.col("q").cast(pl.Float64))
    assert not verify(tmp_path / "release", table=near).confirmed


def test_what_csv_would_lose_is_refused_before_writing(tmp_path: Path) -> None:
    frame = table(["a\0b", "c"], pl.String)
    release = shoal.anonymize(frame, SPEC)
    with pytest.raises(InputError, match=r'"q" holds .*parquet') as raised:
        release.save(tmp_path / "release")
    assert raised.value.code == "csv-inexact"
    assert not list(tmp_path.iterdir())
    release.save(tmp_path / "release", format="parquet")
    assert verify(tmp_path / "release", table=frame).confirmed


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_decimals_that_a_float_cannot_tell_apart_are_refused(format: str, tmp_path: Path) -> None:
    long = [Decimal("12345678901234567.89"), Decimal("12345678901234567.88")]
    release = shoal.anonymize(table(long, pl.Decimal(30, 2)), SPEC)
    with pytest.raises(InputError, match='"q" holds decimals') as raised:
        release.save(tmp_path / "release", format=format)
    assert raised.value.code == "decimal-long"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("nanoseconds", '"ns"', '"parsec"'),
        ("nanoseconds", '"ns"', "7"),
        ("milliseconds", '"timeUnit": "ms"', '"timeZone": "Atlantis"'),
        ("longest integers", "18446744073709551615", "18446744073709551616"),
        ("times", "03:04:00", "noon"),
    ],
)
def test_cells_that_are_not_what_the_package_says(
    kind: str, old: str, new: str, tmp_path: Path
) -> None:
    shoal.anonymize(table(*KINDS[kind]), SPEC).save(tmp_path / "release")
    for name in ("datapackage.json", "qi.csv"):
        file = tmp_path / "release" / name
        file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        Release.load(tmp_path / "release")
    assert raised.value.code == "release-types"
