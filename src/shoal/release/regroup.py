"""A release as the groups it was made of, for whoever has the table and the private record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, IntArray
from shoal.data.table import Table
from shoal.engines import Runs
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.groups.ragged import Counts
from shoal.groups.suppressed import cell_key, cell_keys
from shoal.release.codes import column_codes, pooled_line, value_codes
from shoal.release.record import CellLines
from shoal.release.release import Release


def regroup(
    release: Release, table: Table, rows: NDArray[Any], weights: Floats | None = None
) -> Grouping:
    """The groups of the table's rows (`rows`: their gids, negative where not published), with the
    values that the release publishes of them, and their weights."""
    runs = release.sensitive_runs
    if (runs.copies > 1).any():
        runs = Runs.of(runs.frame())
        release = replace(release, sensitive_held=runs)
    gid, count = runs.first[runs.group], runs.lines["count"].to_numpy()
    ids = np.unique(gid)
    kept = np.flatnonzero(rows >= 0)
    place = np.searchsorted(ids, rows[kept]).clip(max=len(ids) - 1)
    parts = _parts(release, table)
    shown = parts[0].shown
    line = np.searchsorted(ids, gid)
    fits = np.array_equal(np.bincount(place, minlength=len(ids)), np.bincount(line, count))
    known = all(part.shown.min(initial=0) >= 0 for part in parts)
    if not fits or (ids[place] != rows[kept]).any() or not known:
        raise _strangers()
    groups = np.full(len(rows), -1, np.int32)
    groups[kept] = place
    pooled = np.zeros(len(ids), bool)
    pooled[np.searchsorted(ids, runs.first[runs.holding(pooled_line(release.spec))])] = True
    values = None
    if release.certificate["rows"]["values_changed"]:
        # A group is read as a whole, so that it says nothing who of it is given which value.
        values = table.row_value.copy()
        published = np.repeat(shown, count)[np.argsort(np.repeat(gid, count), kind="stable")]
        values[kept[np.argsort(place, kind="stable")]] = published
    grouping = Grouping.of_rows(table, groups, values=values, weights=weights, pooled=pooled)
    for part in parts:
        held = part.of_value[grouping.published_values(table)]
        made = Counts.of_lines(grouping.group, held, grouping.people, len(ids))
        told = Counts.of_lines(line, part.shown, count, len(ids))
        if not all(map(np.array_equal, told.arrays, made.arrays)):
            raise _strangers()
    return grouping


def regroup_cells(release: Release, table: Table, private: Path) -> Grouping:
    """The groups by a private record of cells, of a release with one sensitive column: alike groups
    stay one with copies, and no row is needed."""
    record, runs = CellLines.read(private, table), release.sensitive_runs.in_order()
    release = replace(release, sensitive_held=runs)
    ids, line, group = np.unique(record.first, return_index=True, return_inverse=True)
    copies = record.copies[line]
    run = np.searchsorted(runs.first, ids, side="right") - 1
    behind = np.append(ids[1:], ids[-1:] + copies[-1:])
    if (
        (run < 0).any()
        or (record.copies != copies[group]).any()
        or min(record.copies.min(initial=1), record.people.min(initial=1)) < 1
        or (ids + copies > np.minimum(behind, (runs.first + runs.copies)[run])).any()
        or copies.sum() != runs.copies.sum()
    ):
        raise _strangers()
    pooled = runs.holding(pooled_line(release.spec))[run]
    changed = bool(release.certificate["rows"]["values_changed"])
    shown = np.where(pooled[group], record.value, record.shown) if changed else None
    codes = value_codes(release, table)
    if min(codes.min(initial=0), 0 if shown is None else int(shown.min(initial=0))) < 0:
        raise _strangers()
    grouping = Grouping.of_lines(
        table,
        group.astype(np.int32),
        record.signature,
        record.value,
        record.people,
        copies=copies,
        shown=shown,
        weight=record.weight,
        pooled=pooled,
    )
    # Every group publishes what its run of the release does.
    owner, place = runs.entries(run)
    count = runs.lines["count"].to_numpy() * runs.times
    told = Counts.of_lines(owner, codes[place], count[place], len(ids))
    shown = grouping.published_values(table)
    made = Counts.of_lines(grouping.group, shown, grouping.rows, len(ids))
    cells, mine = cell_keys(table), cell_key(table, grouping.signature, grouping.value)
    place, rows = np.searchsorted(cells, mine).clip(max=len(cells) - 1), table.cells.rows
    if (
        not all(map(np.array_equal, told.arrays, made.arrays))
        or (cells[place] != mine).any()
        or (np.bincount(place, grouping.people, len(cells)) > rows).any()
    ):
        raise _strangers()
    return grouping


class _Part(NamedTuple):
    """What is published as one: whole values, or one column that is published apart."""

    shown: IntArray
    """Its code on each line of the sensitive table."""
    of_value: IntArray
    """Its code in each value of the table, and in the pooled one."""


def _parts(release: Release, table: Table) -> list[_Part]:
    if not release.spec.publish_apart:
        whole = np.arange(len(table.values) + 1, dtype=np.int32)
        return [_Part(value_codes(release, table), whole)]
    assert table.several is not None
    return [
        _Part(shown, held)
        for shown, held in zip(column_codes(release, table).T, table.several.codes.T, strict=True)
    ]


def _strangers() -> InputError:
    return InputError(
        "private-other",
        "The release, the table and the private record do not belong together.",
        "Give the table and the private folder of this release's run.",
    )
