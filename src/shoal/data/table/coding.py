"""Coding: columns as integers, and combinations of columns as keys."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.arrays import IntArray, Ints
from shoal.data.spec import MISSING
from shoal.errors import InputError

DIRECT_KEYS = 1 << 24
"""Up to this many possible keys are counted in a plain array; more are sorted."""


@dataclass(frozen=True, eq=False)
class Column:
    """One coded column: code `i` stands for `values[i]`, shown as `labels[i]`."""

    name: str
    values: pl.Series
    labels: tuple[str, ...]
    numeric: bool

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def ordered(self) -> bool:
        """Whether it holds numbers or dates."""
        return _is_ordered(self.values)

    def code_of(self, label: str) -> int:
        """The code of what is shown so, or -1; decimal numbers may be shown with fewer places in
        one table than in another: 1.10 is 1.1."""
        code = self._codes.get(label, -1)
        return self._codes.get(_number(label), -1) if code < 0 and self.numeric else code

    @cached_property
    def _codes(self) -> dict[str | Decimal | None, int]:
        codes: dict[str | Decimal | None, int] = {}
        if self.numeric:
            codes = {_number(label): code for code, label in enumerate(self.labels)}
        return codes | {None: -1} | {label: code for code, label in enumerate(self.labels)}


def _number(label: str) -> Decimal | None:
    """The number that a label shows, if it does."""
    try:
        return Decimal(label)
    except InvalidOperation:
        return None


def code_column(series: pl.Series) -> tuple[Column, IntArray]:
    """Sorted domain of a column and the code of every row; missing values come last."""
    series = _plain(series)
    shown = series.unique().drop_nulls()
    if series.dtype in (pl.Categorical, pl.Enum):
        domain = shown.cast(pl.String).sort()
        codes = _recoded(series, shown, domain)
    elif series.dtype == pl.String:
        domain = shown.sort()
        coded = series.cast(pl.Enum(domain)).to_physical()
        codes = coded.cast(pl.Int32).fill_null(len(domain)).to_numpy()
    else:
        domain = shown.sort()
        filled = series.fill_null(domain[0]) if len(domain) else series
        codes = np.where(series.is_null(), len(domain), domain.search_sorted(filled))
    numeric = series.dtype.is_numeric()
    labels = _labels(domain)
    if series.null_count():
        labels = (*labels, MISSING)
        domain = pl.concat([domain, pl.Series([None], dtype=domain.dtype)])
    if labels.count(MISSING) > 1:
        raise InputError(
            "missing-label",
            f'Column "{series.name}" has missing values and also the text "{MISSING}".',
            "Rename that text.",
        )
    return Column(series.name, domain, labels, numeric), codes.astype(np.int32)


def _recoded(series: pl.Series, shown: pl.Series, domain: pl.Series) -> IntArray:
    """The codes of a column of categories, without writing out its texts."""
    old = shown.to_physical().to_numpy().astype(np.int64)
    new = np.zeros(old.max(initial=0) + 1, np.int32)
    new[old] = domain.search_sorted(shown.cast(pl.String))
    codes: IntArray = new[series.to_physical().fill_null(0).to_numpy()]
    codes[series.is_null().to_numpy()] = len(domain)
    return codes


def factorize(
    columns: list[IntArray], sizes: list[int]
) -> tuple[IntArray, Ints | NDArray[np.object_]]:
    """Distinct combinations of coded columns: each row's combination, and the sorted mixed-radix
    keys of the combinations that occur."""
    possible = int(np.prod([float(size) for size in sizes]))
    if possible >= 2**62:
        return _factorize_wide(columns, sizes)
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for codes, size in zip(columns, sizes, strict=True):
        key *= size
        key += codes
    if possible <= max(DIRECT_KEYS, 4 * len(key)):
        present = np.zeros(possible, dtype=bool)
        present[key] = True
        keys = np.flatnonzero(present)
        rank = np.empty(possible, dtype=np.int32)
        rank[keys] = np.arange(len(keys), dtype=np.int32)
        return rank[key], keys
    keys, inverse = np.unique(key, return_inverse=True)
    return inverse.astype(np.int32), keys


def _factorize_wide(
    columns: list[IntArray], sizes: list[int]
) -> tuple[IntArray, NDArray[np.object_]]:
    # Two halves are factorized first, so that their combined key fits into 64 bits.
    half = len(columns) // 2
    left, left_keys = factorize(columns[:half], sizes[:half])
    right, right_keys = factorize(columns[half:], sizes[half:])
    inverse, keys = factorize([left, right], [len(left_keys), len(right_keys)])
    radix = 1
    for size in sizes[half:]:
        radix *= size
    wide = [
        int(left_keys[key // len(right_keys)]) * radix + int(right_keys[key % len(right_keys)])
        for key in keys.tolist()
    ]
    return inverse, np.array(wide, dtype=object)


def digits(keys: NDArray[Any], sizes: list[int]) -> IntArray:
    """The codes that mixed-radix keys are made of, a column each."""
    codes = np.empty((len(keys), len(sizes)), dtype=np.int32)
    for position in range(len(sizes) - 1, -1, -1):
        codes[:, position] = keys % sizes[position]
        keys = keys // sizes[position]
    return codes


def _plain(series: pl.Series) -> pl.Series:
    if series.dtype.is_float():
        # -0 is the same value as 0, and must not be shown for it if it comes first.
        return series.set(series == 0, 0.0).fill_nan(None)
    if series.dtype.is_nested() or series.dtype in (pl.Object, pl.Binary, pl.Duration):
        raise InputError(
            "column-type",
            f'Column "{series.name}" holds {series.dtype}, which cannot be published as a value.',
            "Turn it into text or numbers first.",
        )
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        # An empty text is a missing value: in a CSV nobody could tell them apart.
        return series.set(series == "", None) if (series == "").any() else series
    return series if _is_ordered(series) else series.cast(pl.String)


def _is_ordered(series: pl.Series) -> bool:
    return series.dtype.is_numeric() or series.dtype.is_temporal()


def _labels(domain: pl.Series) -> tuple[str, ...]:
    if domain.dtype.is_float():
        texts = domain.cast(pl.String).str.strip_suffix(".0").to_list()
        return tuple("0" if text == "-0" else text for text in texts)
    return tuple(domain.cast(pl.String).to_list())
