"""Recoding before anonymization: a frame's columns made coarser as the spec's recipes say.

Each column is recoded by its distinct values, with how many rows have each; the rows only look up
what became of their value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import polars as pl

from shoal.arrays import Ints
from shoal.data.spec import MISSING, RARE, Event, Recipe, Spec
from shoal.data.spec.checks import band_label
from shoal.data.spec.events import parse_entry
from shoal.data.spec.recipe import ANY
from shoal.data.table.coding import Column, code_column
from shoal.data.table.events import resolve_events
from shoal.data.table.hierarchy import read_hierarchy
from shoal.data.table.scale import Dates, Numbers, scale_of
from shoal.errors import InputError

DIGITS = 6
"""Means are published with so many significant digits."""
_DATES: dict[str, Callable[[str], object]] = {
    "year": lambda text: int(text[:4]),
    "month": lambda text: text[:7],
    "day": lambda text: date.fromisoformat(text[:10]),
}


def recoded(data: pl.DataFrame, spec: Spec, counts: Ints | None = None) -> pl.DataFrame:
    """The frame with its columns recoded; `counts` says for how many rows each line stands."""
    changed = []
    for name, recipe in spec.recode:
        column, codes = code_column(data[name])
        rows = np.bincount(codes, counts, len(column)).astype(np.int64)
        events = [e for e in spec.protect or () if name in (e.column or spec.sensitive_columns)]
        values = values_recoded(column, rows, recipe, tuple(events))
        if name == spec.weight and not recipe.suppress:
            values = _means(column, values, rows)
        changed.append(values.alias(name)[codes])
    return data.with_columns(changed) if changed else data


def _means(column: Column, bands: pl.Series, rows: Ints) -> pl.Series:
    """Bands of numbers, each as the mean of its rows: all of them add up to what they were."""
    number = column.values.cast(pl.Float64).to_numpy()
    band, codes = code_column(bands.alias(column.name))
    total = np.bincount(codes, rows * number, len(band))
    return pl.Series(total / np.bincount(codes, rows, len(band))).round_sig_figs(DIGITS)[codes]


def by_labels(data: pl.DataFrame, labels: Mapping[str, Mapping[str, str | None]]) -> pl.DataFrame:
    """The frame with codes called by the labels of their columns; None is a missing value."""
    made = []
    for name, told in labels.items():
        if told and name in data.columns:
            column, codes = code_column(data[name])
            texts = [None if one == MISSING else told.get(one, one) for one in column.labels]
            made.append(pl.Series(name, texts, dtype=pl.String)[codes])
    return data.with_columns(made)


def values_recoded(
    column: Column, rows: Ints, recipe: Recipe, events: tuple[Event, ...] = ()
) -> pl.Series:
    """What becomes of each value of a column, and of protected `events` among them."""
    values = _Values(column, rows.tolist()).recoded(recipe)
    if recipe.rare is None:
        return values
    return _gathered(values.alias(column.name), rows, recipe.rare, events)


def _gathered(values: pl.Series, rows: Ints, least: int, events: tuple[Event, ...]) -> pl.Series:
    """The values as texts, those with too few rows as one; but what is protected stays apart, or it
    would no longer be."""
    column, codes = code_column(values)
    total = np.bincount(codes, rows, len(column)).astype(np.int64)
    kept = {MISSING}
    mine = [_of_column(event, column) for event in events]
    for event in resolve_events(mine, column, lambda: total):
        kept.update(event.values)
    shown = [
        None if label == MISSING else RARE if count < least and label not in kept else label
        for label, count in zip(column.labels, total.tolist(), strict=True)
    ]
    return pl.Series(shown, dtype=pl.String)[codes]


def _of_column(event: Event, column: Column) -> Event:
    """Of an event of several columns, without the values that only others of them have."""
    if len(event.column) < 2:
        return event
    known = set(column.labels)
    kept = [one for one in event.values if one in known or parse_entry(one, column.name)]
    return replace(event, values=tuple(kept or event.values))


class _Values:
    """The distinct values of a column as texts (None: missing), and how many rows have each."""

    def __init__(self, column: Column, rows: list[int]) -> None:
        self.column, self.rows = column, rows
        self.texts = [None if label == MISSING else label for label in column.labels]

    def recoded(self, recipe: Recipe) -> pl.Series:
        """What becomes of each value, but for rare ones."""
        self._drop(recipe.missing)
        if labels := dict(recipe.labels):
            if not labels.keys() & set(self.texts):
                raise InputError(
                    "recode-values",
                    f"None of the codes with labels, such as {next(iter(labels))}, occurs in "
                    f'"{self.column.name}".',
                    "Give the codes as the table has them.",
                )
            self.texts = [labels.get(text or "", text) for text in self.texts]
        made = self._coarser(recipe)
        if made is not None:
            return pl.Series(made)
        dropped = pl.Series([text is None for text in self.texts], dtype=pl.Boolean)
        return self.column.values.set(dropped, None)

    def _drop(self, missing: tuple[str, ...]) -> None:
        """Turns codes that stand for nothing into missing values."""
        dropped = {text for text in self.texts if text in missing}
        scale = scale_of(self.column) if self.column.numeric else None
        if isinstance(scale, Numbers):
            dropped |= {text for code in missing for text in scale.equal(code)}
        if missing and not dropped:
            raise InputError(
                "recode-values",
                f'None of the missing codes {", ".join(missing)} occurs in "{self.column.name}".',
                "Name codes that occur.",
            )
        self.texts = [None if text in dropped else text for text in self.texts]

    def _coarser(self, recipe: Recipe) -> list[Any] | None:
        """The values by a recipe; None if they stay what they are."""
        if recipe.bands is not None:
            width = recipe.bands
            return self._each_number(lambda number, whole: _band(number, width, whole=whole))
        if recipe.cuts:
            return self._cut([Fraction(str(cut)) for cut in recipe.cuts])
        if recipe.quantiles is not None:
            return self._cut(self._starts(recipe.quantiles))
        if recipe.date is not None:
            return self._dates(recipe.date)
        if recipe.hierarchy is not None:
            return self._nodes(recipe.hierarchy, recipe.level, labelled=bool(recipe.labels))
        if recipe.suppress:
            return [ANY] * len(self.texts)
        return list(self.texts) if recipe.nominal or recipe.labels else None

    def _numbers(self) -> list[Fraction | None]:
        """The values as the decimals that they are written as."""
        scale = scale_of(self.column)
        if isinstance(scale, Numbers):
            places = [None if text is None else scale.places.get(text) for text in self.texts]
            if all(
                text is None or (place is not None and place.is_finite())
                for place, text in zip(places, self.texts, strict=True)
            ):
                return [None if place is None else Fraction(place) for place in places]
        raise InputError(
            "recode-values",
            f'"{self.column.name}" is to be cut as numbers, and holds something else.',
            "Name its other codes as missing, or recode it by a hierarchy.",
        )

    def _each_number(self, label: Callable[[Fraction, bool], str]) -> list[str | None]:
        numbers = self._numbers()
        whole = all(number is None or number.denominator == 1 for number in numbers)
        return [None if number is None else label(number, whole) for number in numbers]

    def _cut(self, cuts: list[Fraction]) -> list[str | None]:
        return self._each_number(lambda number, whole: _part(number, cuts, whole=whole))

    def _starts(self, parts: int) -> list[Fraction]:
        """Where each part but the first starts: a value is in part floor(parts * below / rows),
        where `below` rows have smaller values."""
        by_number: dict[Fraction, int] = {}
        for number, rows in zip(self._numbers(), self.rows, strict=True):
            if number is not None:
                by_number[number] = by_number.get(number, 0) + rows
        numbers = sorted(by_number)
        total = sum(by_number.values())
        below = [0, *accumulate(by_number[number] for number in numbers)]
        part = [parts * rows // total for rows in below[:-1]]
        return [numbers[i] for i in range(1, len(numbers)) if part[i] > part[i - 1]]

    def _dates(self, by: str) -> list[Any]:
        """Years as numbers, months as texts, days as dates."""
        scale, made = scale_of(self.column), _DATES[by]
        places = scale.places if isinstance(scale, Dates) else {}
        try:
            return [None if text is None else made(places[text]) for text in self.texts]
        except (KeyError, ValueError):
            raise InputError(
                "recode-values",
                f'"{self.column.name}" is to be shortened as dates, and holds something else.',
                "Write dates as 2020-03-01, and name other codes as missing.",
            ) from None

    def _nodes(self, file: str, level: int, *, labelled: bool) -> list[str | None]:
        hierarchy = read_hierarchy(file, name=self.column.name)
        kept = [
            None if text is None else text if labelled else value
            for value, text in zip(self.column.values.to_list(), self.texts, strict=True)
        ]
        tree = hierarchy.bind(dict.fromkeys(kept))
        if level > tree.height:
            raise InputError(
                "recode-level",
                f'The hierarchy of "{self.column.name}" has no level {level}.',
                f"Give a level from 1 to {tree.height}.",
            )
        labels, codes = tree.labels(level), tree.codes(level)
        node = {value: labels[code] for value, code in zip(tree.values, codes, strict=True)}
        return [None if value is None else node[value] for value in kept]


def _band(number: Fraction, width: float, *, whole: bool) -> str:
    step = Fraction(str(width))
    start = number // step * step
    if whole and step.denominator == 1 and start >= 0:
        return _between(start, start + step)
    return band_label(_plain(number), width)


def _part(number: Fraction, cuts: list[Fraction], *, whole: bool) -> str:
    place = sum(cut <= number for cut in cuts)
    if not cuts:
        return "any"
    if place == 0:
        return f"under {_shown(cuts[0])}"
    if place == len(cuts):
        return f"{_shown(cuts[-1])} or more"
    low, high = cuts[place - 1], cuts[place]
    if whole and low.denominator == high.denominator == 1 and low >= 0:
        return _between(low, high)
    return f"[{_shown(low)}, {_shown(high)})"


def _between(low: Fraction, high: Fraction) -> str:
    """Whole numbers from `low` to below `high`."""
    return str(low) if high - low == 1 else f"{low}-{high - 1}"


def _plain(number: Fraction) -> int | float:
    return number.numerator if number.denominator == 1 else float(number)


def _shown(number: Fraction) -> str:
    return str(_plain(number))
