"""The rows of a file of outside knowledge, checked one by one and coded against a table.

Rows are counted from 1, the header not included. Attribute values are brought to the table's own
spelling: 39.0 is its 39, and both `[30,40)` and 30 are the band `[30, 40)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.data.spec import MISSING, band_name
from shoal.data.spec.bands import band_label
from shoal.data.table import Column, Table, code_column
from shoal.errors import InputError, nearest, unknown

VALUE, PROBABILITY = "value", "probability"
Speller = Callable[[str], str]


@dataclass(frozen=True, eq=False)
class Statements:
    """One entry per row of the file."""

    source: str
    labels: pl.DataFrame
    """Attribute values as the table spells them; null where a row does not use the attribute."""
    values: list[str]
    """The sensitive value or event label that a row speaks of."""
    target: NDArray[np.int64]
    """Its member code; -1 - e for the set event e as a whole."""
    probability: NDArray[np.float64]


def statements(frame: pl.DataFrame, table: Table, source: str) -> Statements:
    """The rows of a frame of outside knowledge, or an InputError that names the wrong one."""
    attributes = _attributes(frame, table, source)
    if not frame.height:
        raise InputError(
            "knowledge-row", f"There are no rows in {source}.", "Add one for each probability."
        )
    labels = [_spelled(frame[name], _attribute_speller(table, name)) for name in attributes]
    values = _spelled(frame[VALUE], _column_speller(table.members))
    if values.null_count():
        raise InputError(
            "knowledge-row",
            f"Row {_first(values.is_null())} of {source} names no value.",
            f"Name one, or {MISSING} for people without one.",
        )
    return Statements(
        source=source,
        labels=pl.DataFrame(labels),
        values=values.to_list(),
        target=_targets(values, table, source),
        probability=_probabilities(frame[PROBABILITY], source),
    )


def _attributes(frame: pl.DataFrame, table: Table, source: str) -> list[str]:
    for name in (VALUE, PROBABILITY):
        if name not in frame.columns:
            problem = f'There is no column "{name}" in {source}'
            raise unknown("knowledge-column", problem, name, frame.columns)
    known = [*table.spec.qi, *(band_name(name, width) for name, width in table.spec.bands)]
    attributes = [name for name in frame.columns if name not in (VALUE, PROBABILITY)]
    for name in attributes:
        if name not in known:
            problem = f'The column "{name}" in {source} is no QI of the table and no band of one'
            raise unknown("knowledge-column", problem, name, known)
    if not attributes:
        raise InputError(
            "knowledge-column",
            f"There is no attribute column in {source}.",
            f"Add at least one of these: {', '.join(known)}.",
        )
    return attributes


def _spelled(column: pl.Series, spell: Speller) -> pl.Series:
    """The cells in the table's spelling; empty cells stay null."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
    filled = column.is_not_null()
    distinct, codes = code_column(column.filter(filled))
    place = np.full(len(column), len(distinct))
    place[filled.to_numpy()] = codes
    spelled = [*(spell(label) for label in distinct.labels), None]
    return pl.Series(column.name, spelled, dtype=pl.String).gather(place)


def _column_speller(column: Column) -> Speller:
    if not column.numeric:
        return lambda text: text
    known = {_number(label): label for label in column.labels if label != MISSING}
    return lambda text: known.get(_number(text), text)


def _attribute_speller(table: Table, name: str) -> Speller:
    for attribute, width in table.spec.bands:
        if band_name(attribute, width) == name:
            return lambda text: _band(text, width)
    return _column_speller(next(column for column in table.qi if column.name == name))


def _band(text: str, width: float) -> str:
    """The label of the band that a number lies in, or that is meant but spaced otherwise."""
    number = _number(text)
    start = _number(text.strip("[ ").partition(",")[0]) if number is None else number
    if start is None:
        return text
    label = band_label(start, width)
    meant = number is not None or text.replace(" ", "") == label.replace(" ", "")
    return label if meant else text


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _targets(values: pl.Series, table: Table, source: str) -> NDArray[np.int64]:
    events = {
        event.label: -1 - e if event.is_set else table.members.labels.index(event.values[0])
        for e, event in enumerate(table.events)
    }
    codes = events | {label: code for code, label in enumerate(table.members.labels)}
    for row, value in enumerate(values.to_list(), start=1):
        if value not in codes:
            raise InputError(
                "knowledge-row",
                f'The value "{value}" in row {row} of {source} never occurs in '
                f'"{table.members.name}"{nearest(value, codes)}.',
                "Name values of the table, or labels of events.",
            )
    return values.replace_strict(codes, return_dtype=pl.Int64).to_numpy()


def _probabilities(column: pl.Series, source: str) -> NDArray[np.float64]:
    plain = column.str.strip_chars() if column.dtype == pl.String else column
    numbers = plain.cast(pl.Float64, strict=False)
    bad = ~numbers.is_between(0, 1).fill_null(False)
    if bad.any():
        row = _first(bad)
        cell = column[row - 1]
        raise InputError(
            "knowledge-row",
            f"The probability in row {row} of {source} is {'missing' if cell is None else cell}.",
            "Give a number from 0 to 1.",
        )
    return numbers.to_numpy()


def _first(mask: pl.Series) -> int:
    """The first row that is meant, counted from 1."""
    return (mask.arg_max() or 0) + 1
