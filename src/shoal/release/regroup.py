"""A release as the groups it was made of, for whoever has the table and the private record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.grouping import Grouping
from shoal.release.codes import pooled_gids, value_codes
from shoal.release.lines import GID
from shoal.release.release import Release
from shoal.sources import read_table
from shoal.table import Table


def row_groups_of(private: Path, table: Table) -> NDArray[Any]:
    """The gid of every row of the table, from the publisher's private folder."""
    groups = read_table(private / "row_groups.parquet")[GID].to_numpy()
    if len(groups) != table.rows:
        raise InputError(
            "private-rows",
            f"{private} speaks of {len(groups):,} rows, the table has {table.rows:,}.",
            "Give the private folder of this table's run.",
        )
    return groups


def regroup(release: Release, table: Table, rows: NDArray[Any]) -> Grouping:
    """The groups of the table's rows (`rows`: their gids, negative where not published), with the
    values that the release publishes of them."""
    gid, count = (release.sensitive[column].to_numpy() for column in (GID, "count"))
    ids = np.unique(gid)
    kept = np.flatnonzero(rows >= 0)
    place = np.searchsorted(ids, rows[kept]).clip(max=len(ids) - 1)
    shown = value_codes(release, table).astype(np.int64)
    line = np.searchsorted(ids, gid)
    fits = np.array_equal(np.bincount(place, minlength=len(ids)), np.bincount(line, count))
    if not fits or (ids[place] != rows[kept]).any() or shown.min(initial=0) < 0:
        raise _strangers()
    groups = np.full(len(rows), -1, np.int32)
    groups[kept] = place
    pooled = np.zeros(len(ids), bool)
    pooled[np.searchsorted(ids, pooled_gids(release).to_numpy())] = True
    values = None
    if release.certificate["rows"]["values_changed"]:
        # A group is read as a whole, so that it says nothing who of it is given which value.
        values = table.row_value.copy()
        published = np.repeat(shown, count)[np.argsort(np.repeat(gid, count), kind="stable")]
        values[kept[np.argsort(place, kind="stable")]] = published
    grouping = Grouping.of_rows(table, groups, values=values, pooled=pooled)
    width = len(table.values) + 1
    made = grouping.group * np.int64(width) + grouping.published_values(table)
    told = np.bincount(line * np.int64(width) + shown, count, len(ids) * width)
    if not np.array_equal(np.bincount(made, grouping.people, len(ids) * width), told):
        raise _strangers()
    return grouping


def _strangers() -> InputError:
    return InputError(
        "private-other",
        "The release, the table and the private record do not belong together.",
        "Give the table and the private folder of this release's run.",
    )
