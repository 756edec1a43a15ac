"""Published values in the codes of the table that they are of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.arrays import IntArray
from shoal.data.spec import OTHER, Spec
from shoal.data.table import Table
from shoal.data.table.frames import places_in
from shoal.release.release import Release
from shoal.release.tables import shown_parts


def value_codes(release: Release, table: Table) -> IntArray:
    """The code of the value on each line of the sensitive table's runs, `len(table.values)` where
    it is pooled; -1 for what never occurs in the table."""
    runs, names = release.sensitive_runs, list(release.spec.sensitive_columns)
    shown = runs.lines.select(pl.col(names).cast(pl.String))
    distinct = shown.unique(maintain_order=True)
    place = places_in(distinct, shown).to_numpy()
    lines, parts = list(distinct.iter_rows()), shown_parts(table)
    if table.several is None:
        return np.asarray(_codes_of(lines, parts)[place])
    whole = table.several.combinations
    masks = _codes_of(lines, [() if code < whole else part for code, part in enumerate(parts)])
    pooled = runs.holding(pooled_line(release.spec))[runs.group]
    shown_openly = _codes_of(lines, parts[:whole])[place]
    codes: IntArray = np.where(pooled, masks[place], shown_openly).astype(np.int32)
    return codes


def _codes_of(lines: Sequence[tuple[str, ...]], parts: Sequence[tuple[str, ...]]) -> IntArray:
    known = {part: code for code, part in enumerate(parts)}
    codes: IntArray = np.array([known.get(line, -1) for line in lines], np.int32)
    return codes


def column_codes(release: Release, table: Table) -> IntArray:
    """lines of the sensitive table's runs x columns: the same for each of several columns alone."""
    assert table.several is not None
    codes = []
    for column in table.several.columns:
        known = {text: code for code, text in enumerate((*column.values, OTHER))}
        shown = release.sensitive_runs.lines[column.members.name].cast(pl.String)
        codes.append(shown.replace_strict(known, default=-1, return_dtype=pl.Int32).to_numpy())
    return np.column_stack(codes)


def pooled_line(spec: Spec) -> pl.Expr:
    """Whether a line of the sensitive table shows a pooled value."""
    return pl.any_horizontal(
        pl.col(name).cast(pl.String) == OTHER for name in spec.sensitive_columns
    )
