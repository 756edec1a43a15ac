"""A release that any tool made, aligned with the table it was made from."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, nearest
from shoal.frames import to_polars
from shoal.grouping import Grouping
from shoal.partition import number_groups
from shoal.spec import MISSING, Spec
from shoal.table import IntArray, Table, code_column, factorize


def align_column(frame: Any, column: str, spec: Spec) -> tuple[Table, Grouping]:
    """A table whose own `column` labels the groups; a missing label (or the number -1) means not
    published."""
    data = to_polars(frame)
    if column not in data.columns:
        raise InputError(
            "groups-column",
            f'The group column "{column}" does not exist{nearest(column, data.columns)}.',
            f"Columns: {', '.join(data.columns)}.",
        )
    return Table.from_frame(frame, spec), Grouping(number_groups(data[column])[0])


def align_release(
    frame: Any, released: Any, spec: Spec, *, key: str | None = None
) -> tuple[Table, Grouping]:
    """Classes are the distinct combinations of the released QI columns. Rows correspond by order,
    or by a `key` column (rows of the table that the release lacks are suppressed).

    If the release has the sensitive column, its values are what is published: member values of a
    set event are then judged as such, and changed values as changed.
    """
    data, other = to_polars(frame), to_polars(released)
    _check(data, other, spec, key)
    if key is None:
        position: NDArray[Any] = np.arange(data.height)
    else:
        position = _positions(data[key], other[key])
    classes = [code_column(other[name]) for name in spec.qi]
    codes, _ = factorize([c for _, c in classes], [len(column) for column, _ in classes])
    groups = np.where(position >= 0, codes[position], -1)
    if spec.sensitive not in other.columns:
        return Table.from_frame(frame, spec), Grouping(_dense(groups))

    shown = code_column(other[spec.sensitive])
    spec = spec.with_(publish_members=_shows_members(shown[0].labels, spec))
    table = Table.from_frame(frame, spec)
    known = {label: code for code, label in enumerate(table.values)}
    unknown = [label for label in shown[0].labels if label not in known]
    if unknown:
        raise InputError(
            "released-value",
            f'The released value "{unknown[0]}" of "{spec.sensitive}" never occurs in the table'
            f"{nearest(unknown[0], known)}.",
            "Release values of the table, or an event's label.",
        )
    recode = np.array([known[label] for label in shown[0].labels], np.int32)
    values = np.where(position >= 0, recode[shown[1]][position], table.row_value).astype(np.int32)
    changed = not np.array_equal(values, table.row_value)
    return table, Grouping(_dense(groups), values=values if changed else None)


def _check(data: pl.DataFrame, other: pl.DataFrame, spec: Spec, key: str | None) -> None:
    for name in spec.qi:
        if name not in other.columns:
            raise InputError(
                "released-column",
                f'The release has no column "{name}"{nearest(name, other.columns)}.',
                "Its QI columns must bear the table's names.",
            )
    if key is None and data.height != other.height:
        raise InputError(
            "released-rows",
            f"The table has {data.height:,} rows and the release {other.height:,}.",
            "Align them with --key COLUMN, or give a release with a line for every row.",
        )
    if not other.height:
        raise InputError(
            "released-empty", "The release has no rows.", "Give a release with people in it."
        )
    for side, name in ((data, "table"), (other, "release")):
        if key is not None and key not in side.columns:
            raise InputError(
                "key-missing",
                f'The {name} has no key column "{key}"{nearest(key, side.columns)}.',
                "Name a column that both have.",
            )
        if key is not None and side[key].n_unique() < side.height:
            raise InputError(
                "key-twice", f'The key "{key}" repeats in the {name}.', "Use a unique key."
            )


def _positions(keys: pl.Series, released: pl.Series) -> IntArray:
    """Where each key stands in the release, -1 where it does not."""
    left = pl.DataFrame({"key": keys.cast(pl.String)})
    right = pl.DataFrame({"key": released.cast(pl.String)}).with_row_index("at")
    stray = right.join(left, on="key", how="anti")
    if stray.height:
        raise InputError(
            "key-stray",
            f'The release has the key "{stray["key"][0]}", which the table lacks.',
            "Release rows of the table only.",
        )
    joined = left.join(right, on="key", how="left", maintain_order="left")
    return joined["at"].cast(pl.Int32).fill_null(-1).to_numpy()


def _shows_members(labels: tuple[str, ...], spec: Spec) -> bool:
    published = {label for label in labels if label != MISSING}
    return any(event.is_set and published & set(event.values) for event in spec.protect or ())


def _dense(groups: Any) -> IntArray:
    """Group numbers without holes, -1 kept."""
    present, inverse = np.unique(groups, return_inverse=True)
    return (inverse - (1 if present[0] < 0 else 0)).astype(np.int32)
