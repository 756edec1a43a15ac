"""Columns whose values have an order to speak of: numbers and dates, in ranges and comparisons."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

import polars as pl

from shoal.data.spec import MISSING
from shoal.data.spec.events import Compared, Ranged
from shoal.data.table.coding import Column
from shoal.errors import InputError

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)", re.ASCII)
_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01])\b.*)?", re.ASCII | re.DOTALL)
_PERIOD = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?", re.ASCII)
_NOT_ISO = re.compile(r"(\d\d?)([./-])(\d\d?)\2(\d{4})\b(.*)", re.ASCII | re.DOTALL)
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}
SHARE = 0.5
"""A column of texts has a scale if more than this share of its values are numbers, or dates."""


@dataclass(frozen=True)
class Numbers:
    """Numbers, as the decimals that they are written as; texts that are none have no place."""

    places: dict[str, Decimal]
    kind: str = "numbers"

    def equal(self, text: str) -> list[str]:
        """The labels that a text is another way to write: 3 for 3.0."""
        try:
            number = Decimal(text)
        except InvalidOperation:
            return []
        return [label for label, place in self.places.items() if place == number]

    def compared(self, entry: Compared) -> list[str] | None:
        """The labels on one side of a bound, exactly; None if that is no number."""
        bound, sign = _number(entry.bound), _SIGNS[entry.sign]
        if bound is None:
            return None
        return [label for label, place in self.places.items() if sign(place, bound)]

    def ranged(self, entry: Ranged) -> list[str] | None:
        """The labels between two ends. An end stands for all that begins like it: 290..319 holds
        319.5, as a chapter of diagnoses does; 290..319.0 holds 319.05 and not 319.5."""
        low, high = _number(entry.low), _number(entry.high)
        if low is None or high is None:
            return None
        within = [
            label
            for label, place in self.places.items()
            if (place >= low or (low < 0 and place > low - _unit(low)))
            and (place <= high or (high >= 0 and place < high + _unit(high)))
        ]
        return within if low <= high else None


@dataclass(frozen=True)
class Dates:
    """Dates, each as ISO 8601 writes it. A bound may be a year, a month or a day, and stands for
    all of it: a date is cut to the bound's length before they are compared."""

    places: dict[str, str]
    kind: str = "dates"

    def compared(self, entry: Compared) -> list[str] | None:
        """The labels on one side of a year, month or day; None if the bound is none."""
        if not _PERIOD.fullmatch(entry.bound):
            return None
        sign, cut = _SIGNS[entry.sign], len(entry.bound)
        return [label for label, place in self.places.items() if sign(place[:cut], entry.bound)]

    def ranged(self, entry: Ranged) -> list[str] | None:
        """The labels from the beginning of one period to the end of another."""
        low, high = entry.low, entry.high
        if not (_PERIOD.fullmatch(low) and _PERIOD.fullmatch(high)) or high < low[: len(high)]:
            return None
        return [
            label
            for label, place in self.places.items()
            if place[: len(low)] >= low and place[: len(high)] <= high
        ]


def scale_of(column: Column) -> Numbers | Dates | None:
    """The scale of a column's values; None if they have none. Missing values have no place."""
    labels = [label for label in column.labels if label != MISSING]
    if column.numeric:
        return Numbers({label: Decimal(label) for label in labels})
    if column.values.dtype in (pl.Date, pl.Datetime):
        return Dates({label: label for label in labels})
    numbers = {label: place for label in labels if (place := _number(label.strip())) is not None}
    if len(numbers) > SHARE * len(labels):
        return Numbers(numbers)
    dates = {label: label.strip() for label in labels if _DATE.fullmatch(label.strip())}
    others = {label: parts for label in labels if (parts := _NOT_ISO.fullmatch(label.strip()))}
    if len(dates) + len(others) <= SHARE * len(labels):
        return None
    dates |= _by_parts(others, column.name)
    return Dates(dates) if len(dates) > SHARE * len(labels) else None


def _by_parts(written: dict[str, re.Match[str]], column: str) -> dict[str, str]:
    """Dates such as 01.03.2008 as ISO 8601 writes them: the day stands first between points, and
    between other signs where dates of the column can be read in no other way. An InputError if
    they can be read in both ways; none if in neither."""
    ways = []
    for day, month in ((1, 3), (3, 1)):
        try:
            read = {
                label: f"{date(int(parts[4]), int(parts[month]), int(parts[day]))}{parts[5]}"
                for label, parts in written.items()
            }
        except ValueError:
            continue
        if day == 1 or all(parts[2] != "." for parts in written.values()):
            ways.append(read)
    if len(ways) == 2 and ways[0] != ways[1]:
        shown = next(label for label in written if ways[0][label] != ways[1][label])
        raise InputError(
            "date-order",
            f'"{column}" holds "{shown}", and nothing says whether its day or its month is first.',
            f"Write dates with the year first, as {ways[0][shown]}.",
        )
    return ways[0] if ways else {}


def _number(text: str) -> Decimal | None:
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def _unit(number: Decimal) -> Decimal:
    """What the last digit of a number counts."""
    return Decimal((0, (1,), int(number.as_tuple().exponent)))
