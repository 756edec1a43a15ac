"""Shares by leanings: a recipient shares a group's carriers as the release tells.

In a group that holds k carriers of one event and no other event everybody's share stands in the QI
table; written with six digits, they are scaled to be k together. Groups of which none are told are
shared equally.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from shoal.errors import InputError
from shoal.grouping import Grouping
from shoal.release.forms import form_named
from shoal.table import IntArray, Table
from shoal.utility.shared import PublishedPeople, Shared

if TYPE_CHECKING:
    from shoal.engines import Runs
    from shoal.release import Release

Floats = NDArray[np.float64]


def told_shares(release: Release, qi: Runs) -> Floats:
    """Everybody's share on each line of the QI table, not a number where none is told; or an
    InputError for what nobody can count with."""
    assert release.share is not None, "asked for only where some are told"
    column = qi.lines.get_column(release.share, default=None)
    if column is not None and column.dtype == pl.Float64 and column.is_between(0, 1).all():
        return np.asarray(column.to_numpy(), np.float64)
    raise unreadable()


def unreadable() -> InputError:
    """What whoever counts by leanings is told where there are none."""
    return InputError(
        "release-leanings",
        "What the release tells of leanings cannot be read.",
        'Count with shares="equal"; `shoal verify` says what is wrong with a release.',
    )


def shared_by_leanings(
    lines: PublishedPeople,
    held: sparse.csr_array,
    value_event: IntArray,
    share: Floats,
    units: int,
) -> Shared:
    """`lines`, `held` and `value_event` as in `Shared.equally`; `share` is that of the lines."""
    equally = Shared.equally(units, lines, held, value_event)
    by_kind, pair = equally.by_kind, equally.pair
    first = by_kind.indptr[:-1]
    alone = np.diff(by_kind.indptr) == 2
    alone[alone] = by_kind.indices[first[alone]] == 0
    told = equally.of_pairs(lines, units, lines.people * share)[pair]
    total = np.bincount(equally.entry, told, by_kind.nnz)[equally.entry]
    leans = alone[equally.owner] & ~np.isnan(total)
    of_event, rest = leans & (equally.kind > 0), leans & (equally.kind == 0)
    shared = equally.equal.copy()
    shared[of_event] = (by_kind.data[equally.entry] * told / total)[of_event]
    # Whoever has more of the event has less of all else.
    taken = np.bincount(pair[of_event], shared[of_event], len(equally.people))[pair]
    shared[rest] = np.maximum(equally.people[pair] - taken, 0.0)[rest]
    return equally.with_shares(shared)


def shares_of(release: Release, table: Table, grouping: Grouping) -> Floats | None:
    """Everybody's share on each line of the groups of a release, not a number where none is told;
    None where no group tells any."""
    if not release.has_leanings:
        return None
    qi = release.qi_runs.in_order()
    people, _ = form_named(release.form).people(release, qi, table, None)
    assert people is not None, "groups are those of the table"
    width = np.int64(len(table.signatures))
    keys = people.group * width + people.signature
    order = np.argsort(keys, kind="stable")
    gid = np.cumsum(grouping.copies) - grouping.copies + 1
    run = np.searchsorted(qi.first, gid, side="right") - 1
    mine = run[grouping.group] * width + grouping.signature
    return told_shares(release, qi)[order[np.searchsorted(keys, mine, sorter=order)]]
