"""Knowledge from outside: what an adversary learnt elsewhere, as a file of probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.arrays import Floats, Ints
from shoal.data.sources import read_table
from shoal.data.sources.brought import found
from shoal.data.spec import MISSING, band_name
from shoal.data.spec.checks import band_label
from shoal.data.storage import redact
from shoal.data.table import Column, Table, code_column
from shoal.data.table.frames import to_polars
from shoal.errors import InputError, nearest, unknown
from shoal.knowledge import SUM_TOLERANCE, Knowledge, View, attribute_codes, table_distribution
from shoal.knowledge.attributes import signature_keys

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
    target: Ints
    """Its member code; -1 - e for the set event e as a whole."""
    probability: Floats


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


def _targets(values: pl.Series, table: Table, source: str) -> Ints:
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


def _probabilities(column: pl.Series, source: str) -> Floats:
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


ROUNDING = 1e-12
"""Sums above 1 by less than this are our own rounding, and what the file says is kept as it is."""


@dataclass(frozen=True, eq=False)
class _Group:
    """The rows of a file that use one attribute set, sorted into signatures."""

    attributes: tuple[str, ...]
    signatures: pl.DataFrame
    """The signatures' attribute values, one row each."""
    member: Floats
    """Signature x member value: the share that the file gives, NaN where it gives none."""
    event: Floats
    """Signature x event: the share of the event as a whole, NaN where the file gives none."""

    def describe(self, row: int) -> str:
        values = self.signatures.row(row)
        pairs = zip(self.attributes, values, strict=True)
        return ", ".join(f"{name} {value}" for name, value in pairs) or "everybody"


def read_knowledge(source: Any, table: Table) -> Knowledge:
    """Outside knowledge of a table from a file (anything that `read_table` reads) or a frame.

    Columns: attributes of the table (QIs, or bands that the spec declares, such as `age/10`),
    `value` and `probability`. Signatures that nobody in the table has are left aside, and counted.
    """
    if isinstance(source, str | Path):
        name = f'"{redact(source)}"'
        frame = read_table(source, as_text=found(source).kind == "text")
    else:
        name, frame = "the knowledge frame", to_polars(source)
    said = statements(frame, table, name)
    used = said.labels.select(pl.all().is_not_null())
    views, known, aside = [], 0, 0
    for pattern in used.unique(maintain_order=True).rows():
        attributes = tuple(a for a, u in zip(used.columns, pattern, strict=True) if u)
        rows = np.flatnonzero((used.to_numpy() == pattern).all(axis=1))
        group = _grouped(said, rows, attributes, table)
        view = _view(group, _completed(group, table, name), table)
        matched = 0 if view is None else len(view.distributions) - 1
        views += [] if view is None else [view]
        known, aside = known + matched, aside + len(group.signatures) - matched
    if not views:
        raise InputError(
            "knowledge-nobody",
            f"Nobody in the table has any of the attribute values in {name}.",
            "Write attribute values as they stand in the table.",
        )
    return Knowledge(
        tuple(views), f"{name}, {known} signatures ({aside} more that nobody in the table has)"
    )


def _grouped(said: Statements, rows: Ints, attributes: tuple[str, ...], table: Table) -> _Group:
    labels = said.labels[rows].select(attributes)
    if attributes:
        signatures = labels.unique(maintain_order=True).with_row_index("#")
        joined = labels.join(signatures, on=attributes, how="left", maintain_order="left")
        signature = joined["#"].to_numpy().astype(np.int64)
        signatures = signatures.drop("#")
    else:
        signature, signatures = np.zeros(len(rows), np.int64), pl.DataFrame(height=1)
    target, probability = said.target[rows], said.probability[rows]
    _refuse_twice(said, rows, signature)
    group = _Group(
        attributes,
        signatures,
        np.full((len(signatures), len(table.members)), np.nan),
        np.full((len(signatures), len(table.events)), np.nan),
    )
    plain = target >= 0
    group.member[signature[plain], target[plain]] = probability[plain]
    group.event[signature[~plain], -1 - target[~plain]] = probability[~plain]
    return group


def _refuse_twice(said: Statements, rows: Ints, signature: Ints) -> None:
    target = said.target[rows]
    pairs = pl.DataFrame({"signature": signature, "target": target}).to_struct()
    later = ~pairs.is_first_distinct()
    if later.any():
        second = later.arg_max() or 0
        first = np.argmax((signature == signature[second]) & (target == target[second]))
        raise InputError(
            "knowledge-row",
            f"Rows {rows[first] + 1} and {rows[second] + 1} of {said.source} speak of the same "
            f'attribute values and the same value, "{said.values[rows[second]]}".',
            "Keep one of them.",
        )


def _completed(group: _Group, table: Table, source: str) -> Floats:
    """A full distribution over the member values for every signature."""
    share = table.member_rows / table.rows
    unsaid = np.isnan(group.member)
    full = np.where(unsaid, 0.0, group.member)
    code = {label: position for position, label in enumerate(table.members.labels)}
    for e, event in enumerate(table.events):
        whole = ~np.isnan(group.event[:, e])
        if not whole.any():
            continue
        members = np.array([code[value] for value in event.values])
        rest = np.where(whole, group.event[:, e] - full[:, members].sum(axis=1), 0.0)
        added, left = _spread(rest, unsaid[:, members] * share[members])
        full[:, members] += added
        unsaid[np.ix_(whole, members)] = False
        for row in np.flatnonzero(np.abs(left) > SUM_TOLERANCE).tolist():
            raise _sum_error(
                source,
                f'the values of the event "{event.label}" do not add up to its own probability '
                f"for {group.describe(row)}",
            )
    total = full.sum(axis=1)
    added, left = _spread(np.maximum(1 - total, 0.0), unsaid * share)
    over = total > 1 + SUM_TOLERANCE
    for row in np.flatnonzero(over | (left > SUM_TOLERANCE)).tolist():
        why = "more than 1" if over[row] else "though every value has one"
        said = f"the probabilities for {group.describe(row)} add up to {total[row]:.10g}"
        raise _sum_error(source, f"{said}, {why}")
    full += added
    total = full.sum(axis=1, keepdims=True)
    complete: Floats = np.where(total > 1 + ROUNDING, full / total, full)
    return complete


def _sum_error(source: str, said: str) -> InputError:
    return InputError(
        "knowledge-sum",
        f"In {source}, {said}.",
        "Make them add up (to 1, an event's values to the event), or leave a value out: it gets "
        "the rest.",
    )


def _spread(mass: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The mass of each row over its columns by weight, and the mass that found no column."""
    total = weight.sum(axis=1)
    lost = (total == 0) | (mass < 0)
    per_weight = np.divide(mass, total, out=np.zeros_like(mass), where=~lost)
    return weight * per_weight[:, None], np.where(lost, mass, 0.0)


def _view(group: _Group, members: Floats, table: Table) -> View | None:
    """The completed distributions as a view of the table; None if nobody has such a signature."""
    place, keys = signature_keys(table, group.attributes)
    wanted = _stated_keys(group, table)
    position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    present = np.flatnonzero(keys[position] == wanted)
    if not len(present):
        return None
    row_of_key = np.zeros(len(keys), np.int32)
    row_of_key[position[present]] = np.arange(1, len(present) + 1)
    published = np.zeros((len(table.members), len(table.values)))
    published[np.arange(len(table.members)), table.member_value] = 1.0
    rows = np.vstack([table_distribution(table)[None], members[present] @ published])
    return View(group.attributes, row_of_key[place], rows)


def _stated_keys(group: _Group, table: Table) -> NDArray[Any]:
    """The file's signatures as the keys that `factorize` makes; -1 for those it cannot have."""
    keys: NDArray[Any] = np.zeros(len(group.signatures), dtype=object)
    known = np.ones(len(keys), dtype=bool)
    for name in group.attributes:
        _, labels = attribute_codes(table, name)
        code = {label: position for position, label in enumerate(labels)}
        codes = np.array([code.get(value, -1) for value in group.signatures[name].to_list()])
        known &= codes >= 0
        keys = keys * len(labels) + codes
    return np.where(known, keys, -1)
