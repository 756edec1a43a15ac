"""What of a proposal can work: which r, for which events, beside which QIs.

Every event has a largest r that its tightest view allows (shoal.planning.supply). That is a bound,
and groups that reach it are seldom found: an event is kept at r if its bound is half as much again,
and, rarest first, as long as no more than one person in 2r has a kept event, so that partners are
left, and in no stratum more than one in r (counting asks for r people to each case, in groups
that hold its event); of the values of one column, three, which enough people have. The proposed r
is the largest of a few at which an event is kept; if there is none, QIs are dropped, the one first
whose loss helps most. What is left is run for a while: where it does not hold, fewer events are
(the common ones go first, illnesses last), then a smaller r.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from shoal import compiling
from shoal.arrays import Bools, Floats
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Knowledge, Sides
from shoal.planning.propose.values import illness_in, words_of
from shoal.planning.settings import few_events, without_each
from shoal.planning.supply import Supply
from shoal.wording import plain_percent

PROPOSED_R = (5, 4, 3, 2)
MARGIN, ROOM, MOST_EVENTS = 1.5, 0.5, 3
"""How far above r an event's bound must be, how many times 1/r of the people may have one, and how
many values of one column are protected, each by itself."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
FEWEST = 20
"""Of fewer cases a single one is more than `anonymize` leaves out: values that say no illness
are not proposed then."""
PATIENCE = 0.5
"""The share of the time left that a run with several events may take."""
FEW_QIS = 2
"""How many QIs views have while QIs are dropped: what is left is then looked at in all views."""


@dataclass(frozen=True)
class Feasible:
    """What can work, and what had to go for it."""

    r: int
    events: tuple[Event, ...]
    left_out: tuple[tuple[Event, str], ...]
    """Events, and why they are."""
    dropped: tuple[str, ...]
    """QIs beside which nothing else can work."""
    held: bool | None = None
    """Whether it held when it was run; None where no run came to its end."""


def without_rare(data: pl.DataFrame, spec: Spec) -> tuple[str, ...]:
    """The QIs of text that a run would refuse, since nearly nobody shares a value."""
    refused = []
    for name in spec.qi:
        try:
            recode = [pair for pair in spec.recode if pair[0] in (name, *spec.sensitive_columns)]
            Knowledge.of(Table.from_frame(data, spec.with_(qi=[name], recode=recode)))
        except InputError as error:
            if error.code != "qi-rare":
                raise
            refused.append(name)
    return tuple(refused)


def feasible(
    data: pl.DataFrame, spec: Spec, seconds: float = 0.0, whose: Mapping[str, Any] = NOTHING
) -> Feasible | None:
    """What can work of a spec with events, run for so many seconds, by what says whose the rows
    are; None if nothing of it can."""
    table, dropped = Table.from_frame(data, spec), list[str]()
    while (found := _kept(table)) is None:
        if len(table.spec.qi) == 1:
            return None
        table, name = _without_one(table)
        dropped.append(name)
    r, kept, largest = found
    r, few, held = _run(data, spec.with_(qi=table.spec.qi, **whose), table, r, kept, seconds)
    events = spec.protect or ()
    return Feasible(
        r,
        tuple(events[e] for e in np.flatnonzero(few)),
        tuple(
            (
                events[e],
                f"it was not found to hold beside the others at r = {r}"
                if kept[e]
                else _why(r, float(largest[e]), int(table.event_rows[e]), table.rows),
            )
            for e in np.flatnonzero(~few)
        ),
        tuple(dropped),
        held,
    )


def _run(
    data: pl.DataFrame, spec: Spec, table: Table, r: int, kept: Bools, seconds: float
) -> tuple[int, Bools, bool | None]:
    """The r and the events that held when they were run, or the least that was, and whether it
    did."""
    from shoal.planning.comparison.finding import run_asked

    events, few, held, slow = spec.protect or (), kept, None, False
    order = [e for e in np.lexsort((table.event_rows, _harmless(table))).tolist() if kept[e]]
    asked = [(r, count) for count in range(len(order), 0, -1)]
    asked += [(one, 1) for one in PROPOSED_R if one < r]
    with compiling.clock() as spent:
        for r, count in asked:
            if (left := seconds - spent()) <= 0:
                break
            if slow and count > 1:
                continue
            few = np.isin(np.arange(len(events)), order[:count])
            chosen = spec.with_(r=r, **_alone(spec, few))
            coded = Table.from_frame(data, chosen)
            known = Knowledge.of(coded)
            ran = run_asked(coded, known, seconds=left * (PATIENCE if count > 1 else 1.0))
            held, slow = ran.robust, slow or ran.stopped
            if held or (slow and count == 1):
                break
    return r, few, held


def _harmless(table: Table) -> Bools:
    """By event: whether it is called by no word for an illness."""
    return np.array([illness_in(words_of(one.name)) is None for one in table.events])


def _alone(spec: Spec, few: Bools) -> dict[str, Any]:
    """Some of a spec's events, and the columns that they are of."""
    events = [event for event, one in zip(spec.protect or (), few, strict=True) if one]
    columns = [name for event in events for name in event.column]
    if len(columns) == 1:
        return {"sensitive": columns[0], "protect": [replace(one, column=()) for one in events]}
    return {"sensitive": columns or spec.sensitive, "protect": events}


def _kept(table: Table) -> tuple[int, Bools, Floats] | None:
    """The proposed r, which events are kept at it, and every event's bound."""
    order = np.argsort(table.event_rows, kind="stable")
    enough = ~_harmless(table) | (table.event_rows >= min(FEWEST, table.event_rows.max()))
    largest = _largest(_limited(table, FEW_QIS))
    if (largest >= MARGIN * PROPOSED_R[-1]).any():  # else larger views need not be counted
        largest = np.minimum(largest, _largest(table))
    for r in PROPOSED_R:
        kept = enough & (largest >= MARGIN * r)
        rows = np.cumsum(np.where(kept, table.event_rows, 0)[order])
        kept[order] &= rows <= ROOM / r * table.rows
        if table.several is None:
            kept[order[np.cumsum(kept[order]) > MOST_EVENTS]] = False
        while kept.sum() > 1 and _together(table, kept) < r:
            kept[order[kept[order]][-1]] = False
        if kept.any():
            return r, kept, largest
    return None


def _together(table: Table, kept: Bools) -> float:
    """The fewest people to each case of a kept event, in any stratum."""
    fewest = np.inf
    for view in Knowledge.of(table).views:
        sides = Sides.of(view, table, np.flatnonzero(kept))
        people, cases = (sides.cases + sides.others)[1:, 0], sides.cases[1:].sum(axis=1)
        fewest = min(fewest, (people / np.maximum(cases, 1)).min(initial=np.inf))
    return float(fewest)


def _why(r: int, largest: float, cases: int, rows: int) -> str:
    if largest < MARGIN * r:
        return f"no r above {largest:.3g} is possible for it, by `shoal plan`"
    if cases < FEWEST:
        return f"fewer than {FEWEST} people have it"
    share = plain_percent(cases / rows)
    return f"{share} of the people have it, too many beside the others at r = {r}"


def _without_one(table: Table) -> tuple[Table, str]:
    """The table without the QI whose loss raises the largest r most, as far as small views say."""
    asked = table.spec.max_attributes
    cells = few_events(table, range(len(table.events)))
    tried = [
        (float(_largest(_limited(one, FEW_QIS)).max()), number, one)
        for number, one in enumerate(without_each(cells))
    ]
    _, number, best = max(tried, key=lambda one: one[0])
    return _limited(best, asked), table.spec.qi[number]


def _limited(table: Table, most: int | None) -> Table:
    return replace(table, spec=table.spec.with_(max_attributes=most))


def _largest(table: Table) -> Floats:
    """By event: the largest r that the tightest view allows."""
    return np.asarray(Supply.of(table, Knowledge.of(table)).largest_r.min(axis=0))
