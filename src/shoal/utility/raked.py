"""Raked shares: who in a group is likelier to carry its event, by the totals that are published.

Equal shares treat everybody in a group alike, so that people who carry an event often lend carriers
to those whom they are grouped with. The totals say how many carriers each value of an attribute has
(release/totals.py). So a group's events are shared anew until everybody has one value, every group
as many of each kind as it publishes, and every value of an attribute as many carriers as its total
says. Of all ways to share that fit, iterative proportional fitting finds the one that is nearest to
equal shares (in relative entropy: Csiszar 1975).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from shoal.table import Column, IntArray
from shoal.utility.shared import PublishedPeople, Settled, Shared

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
CLOSE, SCALINGS = 1e-4, 300
"""Scaling ends when no total moves by more than this part of it, or after so many rounds: totals of
a table of which people are missing need not fit its groups."""
LEAST = 1e-9
"""Carriers who are shared out where a total says that there are none: a group keeps its events."""


def shared_by_totals(
    units: IntArray,
    lines: PublishedPeople,
    held: sparse.csr_array,
    value_event: IntArray,
    totals: Sequence[Floats],
) -> Shared:
    """`units` has the QI codes of each, the next three are as in `Shared.equally`; `totals` are the
    carriers of each event by value of each column (`known_totals`)."""
    equally = Shared.equally(len(units), lines, held, value_event)
    # Totals are of the whole table, from which carriers may be missing: of all alike, as far
    # as totals tell.
    told = np.max([np.nansum(known, axis=0) for known in totals if len(known)], axis=0)
    kept = np.minimum(1.0, equally.by_kind.sum(axis=0)[1:] / np.maximum(told, 1.0))
    shares = (equally.pair_unit[equally.pair], equally.kind)
    margins = [
        _Margin.of(units[:, place], known * kept, equally.settled, shares)
        for place, known in enumerate(totals)
        if len(known)
    ]
    return equally.with_shares(_scaled(equally, margins))


def known_totals(
    totals: pl.DataFrame, columns: Sequence[Column], events: Sequence[str]
) -> list[Floats]:
    """Per column, values x events: the carriers that the totals tell of, NaN where they tell none;
    nothing for a column of which they tell nothing."""
    number = {label: place for place, label in enumerate(events)}
    told = []
    for column in columns:
        lines = totals.filter(pl.col("attribute") == column.name)
        known = np.full((len(column), len(events)), np.nan)
        for value, event, count in lines.select("value", "event", "count").iter_rows():
            code = column.code_of(value)
            if code >= 0 and event in number:
                known[code, number[event]] = count
        told.append(known if lines.height else np.empty((0, len(events))))
    return told


@dataclass(frozen=True, eq=False)
class _Margin:
    """The totals of one column: the place of each share among them, and what each is to be."""

    place: Ints
    wanted: Floats
    """NaN where nothing is known."""

    @classmethod
    def of(
        cls,
        codes: IntArray,
        known: Floats,
        settled: Settled,
        shares: tuple[Ints, IntArray],
    ) -> _Margin:
        """From people whose kind is settled, and the units and kinds of shares to be found."""
        kinds = known.shape[1] + 1
        wanted = np.column_stack([np.full(len(known), np.nan), known]).ravel()
        width = codes.astype(np.int64) * kinds
        wanted -= np.bincount(width[settled.unit] + settled.kind, settled.people, len(wanted))
        return cls(width[shares[0]] + shares[1], np.where(wanted < LEAST, LEAST, wanted))

    def scales(self, shared: Floats) -> Floats:
        """By how much each total is to grow."""
        now = np.bincount(self.place, shared, len(self.wanted))
        scale = self.wanted / np.where(now > 0, now, np.nan)
        return np.where(np.isnan(scale), 1.0, scale)


def _scaled(equally: Shared, margins: Sequence[_Margin]) -> Floats:
    """Scales shares until each total of the margins is met, each pair (of a group and a unit) has
    as many people as it is, and each entry (a group's kind of value) as many as the group holds;
    the latter to the last digit."""
    shared, pair, entry = equally.equal, equally.pair, equally.entry
    people, held = equally.people, equally.by_kind.data
    for _ in range(SCALINGS):
        off = 0.0
        for margin in margins:
            scale = margin.scales(shared)
            shared = shared * scale[margin.place]
            off = max(off, float(np.abs(scale - 1.0).max()))
        shared = shared * (people / np.bincount(pair, shared))[pair]
        shared = shared * held[entry] / np.bincount(entry, shared)[entry]
        if off < CLOSE:
            break
    return shared
