"""Published values in the codes of the table that they are of."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.engines import GID
from shoal.release.release import Release
from shoal.release.tables import shown_parts
from shoal.spec import OTHER
from shoal.table import IntArray, Table


def value_codes(release: Release, table: Table) -> IntArray:
    """The code of the value on each line of the sensitive table, `len(table.values)` where it is
    pooled; -1 for what never occurs in the table."""
    names = release.spec.sensitive_columns
    lines = list(release.sensitive.select(pl.col(names).cast(pl.String)).iter_rows())
    parts = shown_parts(table)
    if table.several is None:
        known = {part: code for code, part in enumerate(parts)}
        return np.array([known.get(line, -1) for line in lines], np.int32)
    whole = table.several.combinations
    shown = {part: code for code, part in enumerate(parts[:whole])}
    masks = {part: code for code, part in enumerate(parts) if code >= whole}
    pooled = pooled_gids(release)
    is_pooled = release.sensitive[GID].is_in(pooled.implode()).to_list()
    pairs = zip(lines, is_pooled, strict=True)
    codes = [(masks if hidden else shown).get(line, -1) for line, hidden in pairs]
    return np.array(codes, np.int32)


def column_codes(release: Release, table: Table) -> IntArray:
    """lines of the sensitive table x columns: the same for each of several columns alone."""
    assert table.several is not None
    codes = []
    for column in table.several.columns:
        known = {text: code for code, text in enumerate((*column.values, OTHER))}
        shown = release.sensitive[column.members.name].cast(pl.String)
        codes.append(shown.replace_strict(known, default=-1, return_dtype=pl.Int32).to_numpy())
    return np.column_stack(codes)


def pooled_gids(release: Release) -> pl.Series:
    """The groups in which some value is published as pooled."""
    other = pl.any_horizontal(
        pl.col(name).cast(pl.String) == OTHER for name in release.spec.sensitive_columns
    )
    return release.sensitive.filter(other)[GID].unique().sort()
