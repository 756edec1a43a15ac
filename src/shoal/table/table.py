"""Table: a table of people, coded as integers and compressed to signatures.

Everything that a person is to the adversary is their combination of QI values, the full
*signature*. `n` rows become `M` signatures and, for each of them, a count per sensitive value;
knowledge, search and audit run on those, and rows are touched only on reading and writing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, nearest
from shoal.spec import MISSING, Event, Spec
from shoal.table.frames import to_polars

IntArray = NDArray[np.int32]
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


@dataclass(frozen=True, eq=False)
class Table:
    """A coded table. Make one with `Table.from_frame`."""

    spec: Spec
    qi: tuple[Column, ...]
    members: Column
    """The sensitive column as it stands in the table."""
    values: tuple[str, ...]
    """The sensitive values as published: a set event stands under its label."""
    member_value: IntArray
    """For each member code, the code of the published value that stands for it."""
    events: tuple[Event, ...]
    value_event: IntArray
    """For each published value, its event, or -1 for filler."""
    row_signature: IntArray
    row_member: IntArray
    signatures: IntArray
    """One row of QI codes per signature, in lexicographic order."""
    native: Any
    """The frame that the table was made from, as the caller gave it; None if it was not kept."""

    @classmethod
    def from_frame(cls, frame: Any, spec: Spec, *, keep: bool = True) -> Table:
        """Codes a pandas, Polars or PyArrow frame, after checking it against the spec. Without
        `keep` the frame itself can be forgotten: all but `shoal.plan` needs the codes only."""
        data = to_polars(frame)
        _check_columns(data, spec)
        coded = [code_column(data[name]) for name in spec.qi]
        members, row_member = code_column(data[spec.sensitive])
        events = _events(members, spec)
        values, member_value, value_event = _published(members, events, spec)
        sizes = [len(column) for column, _ in coded]
        row_signature, keys = factorize([codes for _, codes in coded], sizes)
        return cls(
            spec=spec,
            qi=tuple(column for column, _ in coded),
            members=members,
            values=values,
            member_value=member_value,
            events=events,
            value_event=value_event,
            row_signature=row_signature,
            row_member=row_member,
            signatures=digits(keys, sizes),
            native=frame if keep else None,
        )

    @property
    def rows(self) -> int:
        return len(self.row_signature)

    @cached_property
    def row_value(self) -> IntArray:
        """The published value of each row."""
        return self.member_value[self.row_member]

    @cached_property
    def row_event(self) -> IntArray:
        """The event that each row carries, or -1."""
        return self.value_event[self.row_value]

    @cached_property
    def signature_rows(self) -> NDArray[np.int64]:
        """How many rows each signature has."""
        return np.bincount(self.row_signature, minlength=len(self.signatures))

    @cached_property
    def cells(self) -> tuple[IntArray, IntArray, NDArray[np.int64]]:
        """The table compressed: (signature, published value, rows), for rows > 0, in order."""
        return self._counted(self.row_value, len(self.values))

    @cached_property
    def member_cells(self) -> tuple[IntArray, IntArray, NDArray[np.int64]]:
        """The same with the sensitive values as they stand in the table."""
        return self._counted(self.row_member, len(self.members))

    def _counted(self, codes: IntArray, size: int) -> tuple[IntArray, IntArray, NDArray[np.int64]]:
        sizes = [len(self.signatures), size]
        inverse, keys = factorize([self.row_signature, codes], sizes)
        parts = digits(keys, sizes)
        return parts[:, 0], parts[:, 1], np.bincount(inverse, minlength=len(keys))

    @cached_property
    def value_rows(self) -> NDArray[np.int64]:
        """How many rows carry each published value."""
        return np.bincount(self.row_value, minlength=len(self.values))

    @cached_property
    def event_r(self) -> NDArray[np.float64]:
        """The r of each event."""
        return np.array([event.r or self.spec.r for event in self.events], dtype=np.float64)

    def describe(self, signature: int) -> dict[str, str]:
        """A signature's QI values, as text."""
        codes = self.signatures[signature]
        return {
            column.name: column.labels[code] for column, code in zip(self.qi, codes, strict=True)
        }


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
) -> tuple[IntArray, NDArray[np.int64] | NDArray[np.object_]]:
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
        return series.fill_nan(None)
    if series.dtype.is_nested() or series.dtype in (pl.Object, pl.Binary, pl.Duration):
        raise InputError(
            "column-type",
            f'Column "{series.name}" holds {series.dtype}, which cannot be published as a value.',
            "Turn it into text or numbers first.",
        )
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        # An empty text is a missing value: in a CSV nobody could tell them apart.
        return series.set(series == "", None) if (series == "").any() else series
    if series.dtype.is_numeric() or series.dtype.is_temporal():
        return series
    return series.cast(pl.String)


def _labels(domain: pl.Series) -> tuple[str, ...]:
    if domain.dtype.is_float():
        texts = domain.cast(pl.String).str.strip_suffix(".0").to_list()
        return tuple("0" if text == "-0" else text for text in texts)
    return tuple(domain.cast(pl.String).to_list())


def _check_columns(data: pl.DataFrame, spec: Spec) -> None:
    if data.height == 0:
        raise InputError("table-empty", "The table has no rows.", "Give a table with people in it.")
    if data.height == 1:
        raise InputError(
            "table-one-row", "The table has one row, so nobody can hide.", "Give more rows."
        )
    roles = [("QI", name) for name in spec.qi] + [("sensitive", spec.sensitive)]
    for role, name in [*roles, *(("identifier", name) for name in spec.identifiers)]:
        if name not in data.columns:
            raise InputError(
                "column-missing",
                f'The {role} column "{name}" does not exist{nearest(name, data.columns)}.',
                f"Columns: {', '.join(data.columns)}.",
            )


def _events(members: Column, spec: Spec) -> tuple[Event, ...]:
    if len(members) == 1:
        raise InputError(
            "sensitive-constant",
            f'The sensitive column "{members.name}" has one value, "{members.labels[0]}": '
            "everybody is known to have it.",
            "Choose a column that differs between people.",
        )
    if spec.protect is None:
        return tuple(Event((label,)) for label in members.labels)
    known = set(members.labels)
    for event in spec.protect:
        for value in event.values:
            if value not in known:
                raise InputError(
                    "value-missing",
                    f'The protected value "{value}" never occurs in "{members.name}"'
                    f"{nearest(value, known)}.",
                    "Protect values that occur in the table.",
                )
        others = known - set(event.values)
        if event.is_set and event.label in others:
            raise InputError(
                "label-taken",
                f'The event label "{event.label}" is also a value of "{members.name}" outside it.',
                "Choose another label.",
            )
        if not others:
            raise InputError(
                "event-everything",
                f'The event "{event.label}" covers every value of "{members.name}".',
                "Leave at least one value outside it.",
            )
    return spec.protect


def _published(
    members: Column, events: tuple[Event, ...], spec: Spec
) -> tuple[tuple[str, ...], IntArray, IntArray]:
    """Published values, the published code of each member, the event of each published value."""
    event_of = {value: e for e, event in enumerate(events) for value in event.values}
    shown = [
        label
        if spec.publish_members or label not in event_of
        else (events[event_of[label]].label if events[event_of[label]].is_set else label)
        for label in members.labels
    ]
    values = tuple(dict.fromkeys(shown))
    code = {value: position for position, value in enumerate(values)}
    member_value = np.array([code[label] for label in shown], dtype=np.int32)
    value_event = np.full(len(values), -1, dtype=np.int32)
    for label, value in zip(members.labels, member_value, strict=True):
        value_event[value] = event_of.get(label, -1)
    return values, member_value, value_event
