"""Bands: a number on an edge begins the next band, for every width."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import Spec
from shoal.data.spec.checks import band_label
from shoal.data.table import Table
from shoal.knowledge import attribute_codes


def test_whole_widths() -> None:
    for width in range(1, 1001):
        for times in (0, 1, 2, 7, 49):
            edge = times * width
            assert band_label(edge, width) == f"[{edge}, {edge + width})"
            assert band_label(float(edge), float(width)) == f"[{edge}, {edge + width})"
            assert band_label(edge - 1, width) == (
                f"[{edge - width}, {edge})" if width > 1 else f"[{edge - 1}, {edge})"
            )


@pytest.mark.parametrize("width", ["0.1", "0.2", "0.25", "0.3", "0.7", "1.1", "2.5", "7.5", "1e-5"])
def test_decimal_widths(width: str) -> None:
    for times in range(-60, 60):
        edge, after = times * Decimal(width), (times + 1) * Decimal(width)
        label = band_label(float(edge), float(width))
        low, high = (float(part) for part in label.strip("[)").split(","))
        assert (low, high) == (float(edge), float(after))


def test_numbers_beyond_double_precision_and_infinity() -> None:
    assert band_label(2**60 + 1, 2) == f"[{2**60}, {2**60 + 2})"
    assert band_label(-0.5, 1) == "[-1, 0)"
    assert band_label(math.inf, 10) == "inf"


def test_every_person_is_in_the_band_of_their_number() -> None:
    ages = np.arange(0, 197)
    frame = pl.DataFrame({"age": ages, "v": ["x", "y"] * 98 + ["x"]})
    for width in (7, 49, 98, 103):
        spec = Spec(qi=("age",), sensitive="v", r=2, bands=[("age", width)])  # type: ignore[arg-type]
        codes, labels = attribute_codes(Table.from_frame(frame, spec), f"age/{width}")
        expected = [f"[{age // width * width}, {age // width * width + width})" for age in ages]
        assert [labels[code] for code in codes] == expected
