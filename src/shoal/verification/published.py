"""Published QI values, found again in the table that they come from."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.release import GID, Release
from shoal.spec import MISSING
from shoal.table import Column, IntArray, Table


def code_signatures(lines: pl.DataFrame, table: Table) -> tuple[IntArray, str]:
    """The signature of each line of a QI table; and what is wrong, if a line is nobody's."""
    coded = pl.DataFrame({column.name: _codes(lines[column.name], column) for column in table.qi})
    for column in table.qi:
        if coded[column.name].null_count():
            return np.zeros(0, np.int32), f'"{column.name}" has a value that is not in the table'
    known = pl.DataFrame(
        {column.name: table.signatures[:, i] for i, column in enumerate(table.qi)}
    ).with_row_index("signature")
    found = coded.join(known, on=list(table.spec.qi), how="left", maintain_order="left")
    if found["signature"].null_count():
        return np.zeros(0, np.int32), "some people have attributes that nobody in the table has"
    return found["signature"].cast(pl.Int32).to_numpy(), ""


def _codes(series: pl.Series, column: Column) -> pl.Series:
    """Codes of published values, null where unknown."""
    given, domain = _comparable(series, column)
    known = pl.DataFrame({"value": domain, "code": np.arange(len(column), dtype=np.int32)})
    frame = pl.DataFrame({"value": given})
    return frame.join(known, on="value", how="left", nulls_equal=True, maintain_order="left")[
        "code"
    ]


def _comparable(series: pl.Series, column: Column) -> tuple[pl.Series, pl.Series]:
    """Published values and a column's domain in one type, in which no two values become one."""
    domain = column.values
    if series.dtype == domain.dtype:
        return series, domain
    if series.dtype.is_integer() and domain.dtype.is_integer():
        return series.cast(pl.Int128), domain.cast(pl.Int128)
    if series.dtype.is_numeric() and domain.dtype.is_numeric():
        return _as_number(series), _as_number(domain)
    labels = pl.Series(list(column.labels), dtype=pl.String)
    return series.cast(pl.String).fill_null(MISSING), labels


def _as_number(series: pl.Series) -> pl.Series:
    """Short floats and decimals mean what they look like: 0.1, not the nearest short float."""
    exact = series.dtype == pl.Float64 or series.dtype.is_integer()
    return series.cast(pl.Float64) if exact else series.cast(pl.String).cast(pl.Float64)


def assign_groups(
    release: Release, table: Table, rows: NDArray[Any] | None
) -> tuple[NDArray[Any] | None, str]:
    """The gid of every row of the table in a generalized release (-1: not published).

    The publisher's own record is checked against the published ranges; without it, rows are told
    apart by the ranges, which works only where these do not overlap and nobody is suppressed.
    """
    covers = _covers(release, table)
    groups = release.qi.unique(subset=[GID], keep="first").sort(GID)
    ids = groups[GID].to_numpy()
    if rows is not None:
        published = rows[rows >= 0]
        if not np.isin(published, ids).all():
            return None, "the private record names groups that are not published"
        place = np.searchsorted(ids, np.where(rows >= 0, rows, ids[0]))
        codes = table.signatures[table.row_signature]
        for position, column in enumerate(table.qi):
            labels = groups[column.name].cast(pl.String).to_list()
            inside = np.stack([covers[column.name][label] for label in labels])
            if not (inside[place, codes[:, position]] | (rows < 0)).all():
                return None, f'somebody lies outside the published range of "{column.name}"'
        return rows, ""
    distinct = groups.unique(subset=list(table.spec.qi), keep="none")
    if distinct.height < groups.height:
        raise _overlap()
    found = np.full(len(table.signatures), -1, np.int64)
    for line in groups.iter_rows(named=True):
        inside = np.ones(len(table.signatures), bool)
        for position, column in enumerate(table.qi):
            inside &= covers[column.name][str(line[column.name])][table.signatures[:, position]]
        if (found[inside] >= 0).any():
            raise _overlap()
        found[inside] = line[GID]
    return found[table.row_signature], ""


def _overlap() -> InputError:
    return InputError(
        "verify-private",
        "The published ranges overlap, so the release alone does not say who is in which group.",
        "Give the publisher's private folder with --private.",
    )


def _covers(release: Release, table: Table) -> dict[str, dict[str, NDArray[np.bool_]]]:
    """For each attribute and label, which codes of its domain the label covers."""
    assert release.ranges is not None
    covers: dict[str, dict[str, NDArray[np.bool_]]] = {}
    for column in table.qi:
        code = {label: i for i, label in enumerate(column.labels)}
        mine = covers.setdefault(column.name, {})
        for label, value in release.ranges.filter(attribute=column.name)[
            ["label", "value"]
        ].iter_rows():
            inside = mine.setdefault(label, np.zeros(len(column), bool))
            if value in code:
                inside[code[value]] = True
    return covers
