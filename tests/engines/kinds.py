"""Tables for tests of engines, with values of every kind that they may meet."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

import shoal
from shoal.data.spec import Spec

HOSTILE = [
    "=SUM(A1)",
    "'+quoted",
    'say "no"',
    "one, two",
    "line\nbreak\r\n",
    "`tick`.dot",
    "$1 \\1 %s {x}",
    " ",
    "ünï – 表",
    "-9",
    "NULL",
    "",
]
KINDS: dict[str, tuple[list[Any], Any]] = {
    "text with. dots": (HOSTILE, pl.String),
    "`whole`": ([1, -3, 2**62], pl.Int64),
    "small": ([1, 2, 3], pl.Int8),
    'no "sign"': ([1, 2**63 - 1], pl.UInt64),
    "part": ([0.0, -0.0, float("nan"), 1.5, 0.1], pl.Float64),
    "short part": ([0.5, 0.1, -0.0], pl.Float32),
    "day, of": ([date(1500, 1, 1), date(2024, 2, 29), date(9999, 12, 31)], pl.Date),
    "moment": (
        [datetime(1890, 1, 1, tzinfo=UTC), datetime(2024, 11, 3, 6, 30, 0, 1, tzinfo=UTC)],
        pl.Datetime("us", "UTC"),
    ),
    "wall; clock": ([datetime(2024, 3, 10, 2, 30), datetime(1700, 1, 1)], pl.Datetime("us")),
    "truth": ([True, False], pl.Boolean),
    "price": ([Decimal("1.10"), Decimal("-2.05")], pl.Decimal(10, 2)),
    "units": ([Decimal("7"), Decimal("8")], pl.Decimal(5, 0)),
    "void": ([None], pl.Null),
}


def all_kinds(rows: int = 300) -> pl.DataFrame:
    """Every kind in a column of its own, with missing values; then a text to protect."""
    random = np.random.default_rng(0)
    columns = [pl.Series("who", np.arange(rows))]
    for name, (values, kind) in KINDS.items():
        drawn = random.integers(0, len(values) + 1, rows)
        columns.append(
            pl.Series(name, [None if i == len(values) else values[i] for i in drawn], kind)
        )
    illness = random.choice(["flu", "cold", "'gout", "HIV"], rows, p=[0.5, 0.3, 0.15, 0.05])
    return pl.DataFrame([*columns, pl.Series("rows", illness)])


def some_kinds(*qi: str) -> Spec:
    return Spec(qi=list(qi), sensitive="rows", protect=["HIV"], r=2)


def hospital(rows: int = 20_000) -> tuple[pl.DataFrame, Spec]:
    spec = Spec(
        qi=["sex", "region", "age"],
        sensitive="diagnosis",
        protect=[["HIV", "Schizophrenia"]],
        identifiers=["patient"],
        r=5,
    )
    return shoal.datasets.hospital(rows, seed=0), spec
