"""plan: before any run, which r is within reach, what stands in the way, and what would help.

Against the binary adversary a group with one carrier is safe when r o_max <= sum o. Summing this
over all groups gives, for every view, r * (sum of the carriers' odds) <= (sum of everybody's odds):
every view has a largest r. If carriers may be suppressed, a linear program bounds how many can be
kept: maximise sum z_s, 0 <= z_s <= carriers of s, subject in every view to
(r-1) sum z_s o_s <= sum over non-carriers of o. Both are proved bounds for groups that withstand
the binary adversary with one carrier each. Groups of several carriers are not bound by them, nor
are groups for the joint adversary, who weighs other odds: there they are a yardstick, near the
truth where many values mix.

Under the honest limit a carrier asks for min(r, 1/f) o instead of r o. As o/f = 1/(1-f), all
carriers of a class together ask for no more than the odds of the class come to: a view whose own
counts cover everybody rules out no r then. (People in no class that is known count with the whole
table's distribution, which need not be theirs.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints, Whole
from shoal.data.spec import MISSING, Limit
from shoal.data.table import Table
from shoal.display import counted, number
from shoal.errors import InputError
from shoal.knowledge import Hiding, Knowledge, View, attribute_qi, event_chances
from shoal.plain import plain
from shoal.planning.settings import few_events, recodings
from shoal.planning.supply import Supply, largest_r
from shoal.wording import EXIT_CODES, REFUSED, visible

MAX_LOST = 0.05
"""The share of cases that `anonymize` leaves out at most, unless it is told otherwise."""
LARGE_R = 1000.0
ADDED, BROKEN = 8, 1e-9
"""So many views join the linear program at once, if they ask for so much more than there is."""
PACE = 1 << 17
"""So many times views and combinations a run takes a second, more or less: Adult 2 s with five QIs,
80 s with nine."""
SHOWN_VIEWS = 5
CLOSELY = 8
"""How many events, the tightest, are bounded by all views at once, and blocked by people who are
named; the others are bounded by each view alone, which rules out nobody but is less tight."""


@dataclass(frozen=True)
class ViewLimit:
    """The largest r that one view allows for an event, and the signatures that set it."""

    view: tuple[str, ...]
    largest_r: float
    blocking: tuple[tuple[str, int, float], ...]
    """Signatures whose carriers use up most: their values, rows, share of all that is used up; of
    many events the tightest only."""


@dataclass(frozen=True)
class EventPlan:
    """What is possible for one event."""

    label: str
    r: float
    carriers: int
    share: float
    largest_r: float
    """The smallest of the views' limits: a bound against the binary adversary, no suppression."""
    coverage_bound: int
    """What the linear program keeps at the asked r: a bound against the binary adversary. Where
    there are many events, for all but the tightest what the tightest view alone would keep."""
    coverage_bound_prior: int
    """The bound on coverage under the limit relative to the prior."""
    known_before: int
    """Rows whose global probability of the event exceeds 1/r in some view."""
    expected_size: float
    """What the binary condition needs on average per group of a carrier; a yardstick."""
    limits: tuple[ViewLimit, ...]
    """The tightest views, tightest first."""


@dataclass(frozen=True)
class Advice:
    """One change of the spec and what it would allow."""

    change: str
    largest_r: float


@dataclass(frozen=True)
class Ran:
    """What came of an r that was run."""

    r: float
    robust: bool | None = None
    refused: str | None = None
    """The code of the error, where nothing can be published."""
    stopped: bool = False
    """Whether the time was up before."""

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.robust] if self.refused is None else REFUSED


@dataclass(frozen=True)
class Plan:
    """The answer of `plan`."""

    rows: int
    signatures: int
    views: int
    events: tuple[EventPlan, ...]
    advice: tuple[Advice, ...]
    limit: Limit = "absolute"
    """The limit that is asked for."""
    carriers: int = 0
    """People with an event."""
    lost: int = 0
    """So many of them, at least, find no group that withstands the binary adversary, whatever
    groups are made: proven, where the limit is absolute."""

    impossible_above: float | None = None
    """No groups that withstand the binary adversary exist at a larger r, even if as many cases are
    left out as `anonymize` lets go: proven, where the limit is absolute and r one for all."""
    tried: tuple[Ran, ...] = ()
    """Each r that was run."""

    @property
    def found(self) -> float | None:
        """The largest r that held when it was run."""
        return max((one.r for one in self.tried if one.robust), default=None)

    @property
    def run_seconds(self) -> float:
        """About how long the asked r takes to run."""
        return self.views * self.signatures / PACE

    @property
    def asked(self) -> float:
        """The largest r that is asked for."""
        return max((one.r for one in self.events), default=0.0)

    @property
    def hopeless(self) -> bool:
        """Whether it is proven that `anonymize` refuses the asked r."""
        return self.lost > MAX_LOST * self.carriers

    @property
    def exit_code(self) -> int:
        """How `anonymize` ends at the asked r, by proof or by a run; as if it could not judge where
        there is neither."""
        ran = next((one for one in self.tried if one.r == self.asked), Ran(self.asked))
        return REFUSED if self.hopeless else ran.exit_code

    def __repr__(self) -> str:
        who = "nobody is ruled out" if self.feasible else "not everybody can be protected"
        lines = [
            f"Plan: {who} at the asked r; bound on r {number(self.largest_r)}{self._found()}",
            f"{counted(self.rows, 'row')}, {counted(self.signatures, 'signature')}, "
            f"{counted(self.views, 'view')}",
        ]
        tightest = sorted(self.events, key=lambda one: one.largest_r)
        for event in tightest[:2]:
            kept = f"{min(self.kept(event), event.carriers):,} of {event.carriers:,} kept"
            largest = number(event.largest_r)
            lines.append(
                f"{visible(event.label)}: r = {event.r:g}, bound on r {largest}, {kept} at most"
            )
        if len(tightest) > 2:
            lines.append(f"and {counted(len(tightest) - 2, 'more event')}")
        if self.advice:
            best = self.advice[0]
            lines.append(
                f"would raise the bound: {visible(best.change)}, to {number(best.largest_r)}"
            )
        return "\n  ".join(lines)

    def _found(self) -> str:
        return "" if self.found is None else f", found up to {number(self.found)}"

    @property
    def largest_r(self) -> float:
        return min((event.largest_r for event in self.events), default=math.inf)

    @property
    def feasible(self) -> bool:
        """Whether the linear program keeps everybody at the asked r and limit, and nobody is lost
        for certain."""
        return not self.lost and all(self.kept(one) >= one.carriers for one in self.events)

    def kept(self, event: EventPlan) -> int:
        """How many carriers of an event the linear program keeps under the asked limit."""
        return event.coverage_bound_prior if self.limit == "prior" else event.coverage_bound

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "signatures": self.signatures,
            "views": self.views,
            "limit": self.limit,
            "largest_r": _finite(self.largest_r),
            "feasible": self.feasible,
            "carriers": self.carriers,
            "lost": self.lost,
            "impossible_above": self.impossible_above,
            "tried": plain(self.tried),
            "found": self.found,
            "exit_code": self.exit_code,
            "events": _finite(plain(self.events)),
            "advice": _finite(plain(self.advice)),
        }


def plan(table: Table, *, knowledge: Knowledge | None = None) -> Plan:
    """What is possible for a table that kept its frame, before anything is run."""
    known = knowledge or Knowledge.of(table)
    supply = Supply.of(table, known)
    tightest = np.argsort(supply.largest_r.min(axis=0), kind="stable")
    closely = set(tightest[:CLOSELY].tolist())
    events = tuple(
        _plan_event(table, known, supply, e, closely=e in closely) for e in range(len(table.events))
    )
    enough = all(event.largest_r >= event.r for event in events)
    advice = () if enough else _advice(table, known, supply, events)
    limit, hiding = table.spec.limit, Hiding(table, known)
    return Plan(
        rows=table.rows,
        signatures=len(table.signatures),
        views=len(known.views),
        events=events,
        advice=advice,
        limit=limit,
        carriers=table.carriers,
        lost=0 if limit == "prior" else hiding.lost(),
        impossible_above=_impossible_above(table, hiding),
    )


def _impossible_above(table: Table, hiding: Hiding) -> float | None:
    if table.spec.limit == "prior" or any(event.r for event in table.events):
        return None
    scale = hiding.at(LARGE_R).largest_scale(MAX_LOST * table.carriers)
    return math.ceil(100 * LARGE_R * scale) / 100 if scale < 1.0 else None


def coverage_bound(
    table: Table, knowledge: Knowledge, event: int, r: float, limit: Limit = "absolute"
) -> int:
    """At most this many carriers of an event can be protected at r against the binary adversary, in
    groups of one carrier each (linear program, HiGHS); a yardstick against the joint one."""
    from scipy.optimize import linprog

    carriers, others = _split(table, event)
    at = np.flatnonzero(carriers)
    if not len(at):
        return 0
    rows, limits = [], []
    must = np.zeros(len(at), bool)
    for view in knowledge.views:
        odds = _odds(view, table, event)
        must |= ~np.isfinite(odds[at])
        with np.errstate(invalid="ignore"):
            supply = np.where(others > 0, others * odds, 0.0).sum()
        if not np.isfinite(supply):
            continue  # somebody who must have the event and has it not: nothing is scarce here
        own = np.where(np.isfinite(odds[at]), odds[at], 0.0)
        row = (r - 1) * own
        if limit == "prior":  # 1/f is (1 + o)/o
            row = np.minimum(row, 1.0)
        scale = max(supply, 1e-12)
        rows.append(row / scale)
        limits.append(supply / scale)
    upper = np.where(must, 0.0, carriers[at].astype(float))
    if not rows:
        return int(upper.sum())
    # Few views bind: those that the best so far breaks are added until it breaks none.
    used, most, kept = np.array(rows), np.array(limits), upper
    chosen = np.zeros(len(most), bool)
    while (broken := ~chosen & (used @ kept > most + BROKEN)).any():
        chosen[np.argsort(np.where(broken, most - used @ kept, 0.0))[:ADDED]] = True
        optimum = linprog(
            -np.ones(len(at)),
            A_ub=used[chosen],
            b_ub=most[chosen],
            bounds=np.column_stack([np.zeros(len(at)), upper]),
            method="highs",
        )
        if not optimum.success:
            return int(upper.sum())
        kept = optimum.x
    return math.floor(float(kept.sum()) + 1e-6)


def _plan_event(
    table: Table, knowledge: Knowledge, supply: Supply, event: int, *, closely: bool
) -> EventPlan:
    r, count = float(table.event_r[event]), int(table.event_rows[event])
    largest = supply.largest_r[:, event]
    order = np.argsort(largest, kind="stable")[:SHOWN_VIEWS].tolist()
    tightest = float(largest[order[0]])
    kept, prior = int(supply.kept[event]), int(supply.kept_prior[event])
    if closely:
        kept = min(kept, coverage_bound(table, knowledge, event, r)) if kept < count else kept
        if prior < count:
            prior = min(prior, coverage_bound(table, knowledge, event, r, "prior"))
    return EventPlan(
        label=table.events[event].label,
        r=r,
        carriers=count,
        share=count / table.rows,
        largest_r=tightest,
        coverage_bound=kept,
        coverage_bound_prior=prior,
        known_before=int(supply.known_before[event]),
        expected_size=max(float(math.ceil(r)), float(supply.size[event]) if tightest >= r else r),
        limits=tuple(
            ViewLimit(
                knowledge.views[v].attributes,
                float(largest[v]),
                _blocking(table, knowledge.views[v], event) if closely else (),
            )
            for v in order
        ),
    )


def _blocking(table: Table, view: View, event: int) -> tuple[tuple[str, int, float], ...]:
    """The three signatures of the view whose carriers weigh most."""
    carriers, _ = _split(table, event)
    with np.errstate(invalid="ignore"):
        used = np.where(carriers > 0, carriers * _odds(view, table, event), 0.0)
    by_row = np.bincount(view.index, weights=np.nan_to_num(used, posinf=1e300))
    lines = []
    for row in np.argsort(-by_row)[:3]:
        if by_row[row] <= 0:
            continue
        members = np.flatnonzero(view.index == row)
        heaviest = members[np.argmax(used[members])]
        described = table.describe(int(heaviest))
        shown = ", ".join(
            f"{name} {described[name]}" if name in described else _band(table, name, members)
            for name in view.attributes
            if name in described or name.rpartition("/")[0] in described
        )
        text = (
            shown
            if row and shown
            else "combinations of fewer than min_support people"
            if not row
            else "this view"
        )
        share = by_row[row] / by_row.sum()
        lines.append((text, int(table.signature_rows[members].sum()), float(share)))
    return tuple(lines)


def _band(table: Table, attribute: str, members: Ints) -> str:
    """The range of a number that is known in bands, of the people of one band."""
    name = attribute.rpartition("/")[0]
    place = table.spec.qi.index(name)
    values = table.qi[place].values[np.unique(table.signatures[members, place])]
    low, high = values.min(), values.max()
    return f"{name} {MISSING}" if low is None else f"{name} {low!s} to {high!s}"


def _advice(
    table: Table, known: Knowledge, supply: Supply, events: tuple[EventPlan, ...]
) -> tuple[Advice, ...]:
    """Single changes of the spec that raise the largest r of the tightest events, best first."""
    spec, tightest = table.spec, np.argsort([event.largest_r for event in events], kind="stable")
    few = few_events(table, tightest[:CLOSELY].tolist())
    asked = events[tightest[0]].largest_r
    attributes = {name.split("/")[0] for event in events for name in event.limits[0].view}
    changes: list[Iterable[tuple[str, Table]]] = []
    found = dict[str, float]()
    if len(spec.qi) > 1 and spec.views is None and spec.knowledge is None:
        some = tightest[:CLOSELY] if table.several is None else tightest
        found = dict(without_each(table, known, supply, some))
    if spec.knowledge is None:
        changes.append(
            (f"min_support {support}", replace(few, spec=few.spec.with_(min_support=support)))
            for support in (table.min_support * 2, table.min_support * 5)
        )
        changes.append(recodings(few, attributes - {name for name, _ in spec.recode}))
    for change, other in chain.from_iterable(changes):
        try:
            found[change] = largest_r(other, Knowledge.of(other))
        except InputError as error:
            if error.code != "qi-rare":
                raise
            continue  # with that min_support a QI would be in no view
    advice = [Advice(change, most) for change, most in found.items() if most > asked * 1.01]
    whole = math.floor(asked * 10) / 10
    if whole > 1:
        advice.append(Advice(f"r {whole:g}", asked))
    return tuple(sorted(advice, key=lambda one: -one.largest_r))


def without_each(
    table: Table, known: Knowledge, supply: Supply, events: Whole
) -> Iterator[tuple[str, float]]:
    """The largest r for some events without each QI, by the views that know nothing of it: they are
    those of a table that never had it."""
    of = [{attribute_qi(table, name) for name in view.attributes} for view in known.views]
    whole = float((table.rows / table.event_rows[events]).min())
    for place, name in enumerate(table.spec.qi):
        rest = supply.largest_r[[not {place, None} & own for own in of]]
        yield f"drop {name}", float(rest[:, events].min()) if len(rest) else whole


def _split(table: Table, event: int) -> tuple[Ints, Ints]:
    """Rows with and without an event, per signature."""
    signature, value, rows = table.cells
    carries = table.holds(event)[value]
    counted = np.bincount(signature[carries], rows[carries], len(table.signatures))
    carriers = counted.astype(np.int64)
    return carriers, table.signature_rows - carriers


def _odds(view: View, table: Table, event: int) -> Floats:
    chance = event_chances(view, table, np.array([event]))[:, 0]
    with np.errstate(divide="ignore"):
        return np.asarray((chance / (1.0 - chance))[view.index])


def _finite(told: Any) -> Any:
    """Plain data with nothing for what is infinite, as JSON has no such number."""
    if isinstance(told, dict):
        return {key: _finite(one) for key, one in told.items()}
    if isinstance(told, list):
        return [_finite(one) for one in told]
    return None if isinstance(told, float) and not math.isfinite(told) else told
