"""What each reader of one view knows of everybody by several releases together.

Their worlds are all ways to give everybody one value so that every group of every release holds
what it published (equations 1 to 3 of the paper, with more than one grouping). Groups that overlap
with none are judged as those of one release; small components are exact (overlap.py); of large ones
there are certain people (certain.py) and bounds (swaps.py), and what these do not decide is not
decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.auditing.adversaries.adversary import BOTH, as_adversaries
from shoal.auditing.adversaries.aspects import readings
from shoal.auditing.adversaries.joint import JOINT_BUDGET
from shoal.auditing.adversaries.judging import Case
from shoal.auditing.adversaries.kernels.judge import TOLERANCE
from shoal.auditing.releases.certain import values_left
from shoal.auditing.releases.constraints import Constraints, Shown
from shoal.auditing.releases.overlap import Overlap
from shoal.auditing.releases.swaps import Swaps
from shoal.auditing.releases.verdict import ABOVE, KEPT, OPEN, ReleasesVerdict
from shoal.data.spec import Limit
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.groups.partition import Partition
from shoal.knowledge import Knowledge, View, event_chances
from shoal.knowledge.entropy import all_counts, most_counted

CERTAIN = 1 - 1e-6
"""Whoever is thought to have an event with this chance has it for certain, by the release unless
the counts alone say so."""
SMALL = 400
"""People of a component that is tried exactly."""


def judge_releases(
    table: Table,
    shown: Sequence[Shown],
    *,
    knowledge: Knowledge | None = None,
    readers: Sequence[str] = BOTH,
    limit: Limit | None = None,
    earlier: int = 0,
    budget: float = JOINT_BUDGET,
    seed: int = 0,
) -> ReleasesVerdict:
    """Judges releases of a table's rows together, by the readers joint and binary.

    The first `earlier` of them were published before: whoever is in no group that only a later one
    has, is known as well without it, and is held against no limit. Up to `budget` steps a component
    is judged exactly, reader by reader and view by view.
    """
    if table.several is not None:
        raise InputError(
            "releases-several",
            "Releases are judged together by one sensitive column, and there are "
            f"{len(table.several.columns)}.",
            "Give a spec with one of them.",
        )
    if not set(readers) <= set(BOTH):
        raise InputError(
            "releases-readers",
            f"Of releases together judge: {', '.join(BOTH)}.",
            "Choose among these.",
        )
    told = Constraints.of(table, shown)
    known = knowledge or Knowledge.of(table)
    asked = _Asked(table, told, known, readers, limit or table.spec.limit, earlier, budget, seed)
    found = _Found(table.rows)
    groups = np.unique(told.place[told.place >= 0])
    many = np.bincount(told.component[groups], minlength=int(told.component.max()) + 1)
    overlap = np.flatnonzero(many > 1)
    own = _coded_as(told, groups)
    single = groups[(many[told.component[groups]] == 1) & own]
    _judge_single(asked, found, single)
    rest = np.unique(told.component[np.setdiff1d(groups, single)])
    exact = _judge_overlaps(asked, found, rest)
    for one in told.shown:
        _judge_weights(asked, found, one)
    new = _adds(told, earlier, len(many))
    about = np.where(told.row_component >= 0, new[told.row_component], False)
    told_before = int(((found.state != KEPT) & ~about).sum())
    state = np.where(about, found.state, KEPT).astype(np.int8)
    of_overlap = many[overlap]
    return ReleasesVerdict(
        releases=len(shown),
        people=int((told.row_component >= 0).sum()),
        certain=int((found.sure & about).sum()),
        above=int((state == ABOVE).sum()),
        undecided=int((state == OPEN).sum()),
        told=told_before,
        told_certain=int((found.sure & ~about).sum()),
        worst=found.worst,
        groups_alone=int((many == 1).sum()),
        groups_exact=int(of_overlap[np.isin(overlap, exact)].sum()),
        groups_bounded=int(of_overlap[~np.isin(overlap, exact)].sum()),
        state=state,
        sure=found.sure & about,
    )


def judge_after(
    case: Case,
    knowledge: Knowledge,
    told: Bools,
    rows: IntArray,
    pooled: Bools | None,
    weight: Floats | None,
) -> ReleasesVerdict:
    """A release with the one that it follows, which published the groups that are `told`: `rows`
    is the group of each row, `pooled` says which groups are, and `weight` what each row counted
    as before."""
    before = np.where((rows >= 0) & told[rows], np.cumsum(told)[rows] - 1, -1).astype(np.int32)
    value = case.table.row_value
    if pooled is not None:
        value = np.where(pooled[rows], case.table.masked[value], value).astype(np.int32)
    shown = [Shown(case.table, before, value, weight), Shown(case.table, rows, value)]
    return judge_releases(
        case.table,
        shown,
        knowledge=knowledge,
        limit=case.limit,
        earlier=1,
        budget=case.budget,
        seed=case.seed,
    )


class _Asked(NamedTuple):
    table: Table
    told: Constraints
    knowledge: Knowledge
    readers: Sequence[str]
    limit: Limit
    earlier: int
    budget: float
    seed: int

    def limits(self, view: View, rows: Ints) -> Floats:
        """rows x events: how sure the reader of a view may be."""
        least = 1.0 / self.table.event_r
        if self.limit == "absolute":
            return np.broadcast_to(least, (len(rows), len(least)))
        before = event_chances(view, self.table)[view.index[self.table.row_signature[rows]]]
        return np.asarray(np.maximum(least, before))


class _Found:
    """What is found of each row, the worst of all readers and views."""

    def __init__(self, rows: int) -> None:
        self.state = np.full(rows, KEPT, np.int8)
        self.sure = np.zeros(rows, bool)
        self.worst = 0.0

    def take(self, rows: Ints, state: NDArray[np.int8]) -> None:
        self.state[rows] = np.maximum(self.state[rows], state)


def _coded_as(told: Constraints, groups: Ints) -> Bools:
    """Which groups are of releases that code values as the table does."""
    same = [
        one.table.values == told.table.values
        and np.array_equal(one.table.value_event, told.table.value_event)
        for one in told.shown
    ]
    return np.array(same)[told.release[groups]]


def _adds(told: Constraints, earlier: int, components: int) -> Bools:
    """Of each component: whether it holds a group that none of the earlier releases publishes."""
    adds = np.zeros(components, bool)
    present = np.unique(told.place[told.place >= 0])
    adds[told.component[present[told.release[present] >= earlier]]] = True
    return adds


def _judge_single(asked: _Asked, found: _Found, groups: Ints) -> None:
    """Groups that overlap with none, as those of one release."""
    table, told = asked.table, asked.told
    if not len(groups):
        return
    number = np.full(len(told.release) + 1, -1, np.int32)
    number[groups] = np.arange(len(groups))
    rows = number[told.place].max(axis=0)
    shown = table.row_value.copy()
    for place, one in zip(told.place, told.shown, strict=True):
        mine = number[place] >= 0
        open_ = mine & (one.value < len(table.values))
        shown[open_] = one.value[open_]
        # Whoever stands for the pooled value stands for none of an event, whatever their own is.
        hidden = mine & ~open_ & (table.value_event[shown] >= 0)
        shown[hidden] = np.argmax(table.value_event < 0)
    changed = not np.array_equal(shown, table.row_value)
    grouping = Grouping.of_rows(
        table, rows, values=shown if changed else None, pooled=told.pooled[groups]
    )
    case = Case(
        table=table,
        partition=Partition.of(table, grouping),
        event_r=table.event_r,
        limit=asked.limit,
        beforehand=asked.knowledge.largest_chances(table),
        budget=asked.budget,
        seed=asked.seed,
    )
    pair = case.partition.find_pairs(rows, table.row_signature)
    held = np.full(len(case.partition.signature) + 1, -1)
    held[case.held] = np.arange(len(case.held))
    mine = np.flatnonzero(held[pair] >= 0)
    at = held[pair[mine]]
    known = all_counts(table, asked.knowledge).chance
    for reading in readings(as_adversaries(list(asked.readers)), case):
        for number_, view in enumerate(asked.knowledge.views):
            judged = reading.judge(view, number_)
            state = np.where(judged.breach, ABOVE, np.where(judged.undecided, OPEN, KEPT))
            found.take(mine, state[at].astype(np.int8))
            exact = judged.kind == 0
            found.worst = max(found.worst, float(judged.posterior[exact].max(initial=0.0)))
            certain = exact & judged.breach & (judged.posterior >= CERTAIN)
            certain &= known[case.partition.signature[case.held], judged.event] < CERTAIN
            found.sure[mine] |= certain[at]
            if len(judged.contradictory):
                strange = np.isin(case.partition.pairs.owner[case.held], judged.contradictory)
                found.take(mine, np.where(strange[at], OPEN, KEPT).astype(np.int8))


def _judge_weights(asked: _Asked, found: _Found, one: Shown) -> None:
    """Who counts as more than the counts of today allow, and whom only the weight makes certain."""
    if one.weight is None:
        return
    table = asked.table
    known = all_counts(table, asked.knowledge).chance
    most, sure = most_counted(table, known).max(axis=1), known.max(axis=1)
    shown, signature = (one.group >= 0) & ~np.isnan(one.weight), table.row_signature
    above = np.flatnonzero(shown & (one.weight > most[signature] * (1.0 + TOLERANCE)))
    found.take(above, np.full(len(above), ABOVE, np.int8))
    found.sure[above] |= (one.weight >= CERTAIN)[above] & (sure[signature] < CERTAIN)[above]


def _judge_overlaps(asked: _Asked, found: _Found, components: Ints) -> Ints:
    """Components of several groups; those that are judged exactly by every reader."""
    told, table = asked.told, asked.table
    rows = np.flatnonzero(np.isin(told.row_component, components))
    if not len(rows):
        return np.zeros(0, np.int64)
    left = values_left(told, rows)
    of_event = table.value_event[None, :] == np.arange(len(table.events))[:, None]
    for own in of_event:
        sure = left.any(axis=1) & ~left[:, ~own].any(axis=1)
        found.sure[rows[sure]] = True
    found.take(rows, np.where(found.sure[rows], ABOVE, KEPT).astype(np.int8))
    if found.sure[rows].any():
        found.worst = 1.0
    order = np.argsort(told.row_component[rows], kind="stable")
    ends = np.append(0, np.flatnonzero(np.diff(told.row_component[rows[order]])) + 1)
    exact, wide = [], [np.zeros(0, np.int64)]
    for mine in np.split(order, ends[1:]):
        if len(mine) <= SMALL and _judge_exactly(asked, found, rows[mine]):
            exact.append(told.row_component[rows[mine[0]]])
        else:
            wide.append(mine)
    mine = np.concatenate(wide)
    _judge_widely(asked, found, rows[mine], left[mine])
    return np.array(exact, np.int64)


def _judge_exactly(asked: _Asked, found: _Found, rows: Ints) -> bool:
    """One component; False if that would take too long."""
    told, table = asked.told, asked.table
    keys = np.vstack([table.row_signature[rows], told.place[:, rows]])
    types, kind, sizes = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    kind = kind.ravel()
    whole = Overlap.of(told, types[1:].T, sizes.astype(np.int64))
    held = [event for event in range(len(table.events)) if (whole.event == event).any()]
    read = {"joint": [(whole, held)]} if "joint" in asked.readers else {}
    if "binary" in asked.readers:
        read["binary"] = [(whole.by_event(event), [event]) for event in held]
    if any(one.steps() > asked.budget for reading in read.values() for one, _ in reading):
        return False
    one_of = np.unique(kind, return_index=True)[1]
    for view in asked.knowledge.views:
        chances = view.distributions[view.index[types[0]]]
        event_chance = event_chances(view, table)[view.index[types[0]]]
        limits = asked.limits(view, rows[one_of])
        alike = bool((chances == chances[0]).all())
        for name, reading in read.items():
            for one, events in reading:
                if name == "binary":
                    own = event_chance[:, events[0]]
                    posterior = one.posteriors_of(np.column_stack([own, 1.0 - own]))
                else:
                    posterior = one.posteriors(chances)
                if np.isnan(posterior).any():
                    found.take(rows, np.full(len(rows), OPEN, np.int8))
                    continue
                for event in events:
                    sure = posterior[:, one.event == event].sum(axis=1)
                    most = limits[:, event] + (TOLERANCE if alike else -TOLERANCE)
                    state = np.where(sure > most, ABOVE, KEPT)
                    found.take(rows, state[kind].astype(np.int8))
                    found.worst = max(found.worst, float(sure.max()))
    return True


def _judge_widely(asked: _Asked, found: _Found, rows: Ints, left: Bools) -> None:
    """Large components: certain people are known; of others there are bounds."""
    if not len(rows):
        return
    told, table = asked.told, asked.table
    value_event = np.asarray(table.value_event, np.int64)
    if not left.any(axis=1).all():
        found.take(rows, np.full(len(rows), OPEN, np.int8))  # releases contradict each other
        return
    for reader in asked.readers:
        swaps = Swaps.of(told, rows, left, apart=reader == "joint")
        for view in asked.knowledge.views:
            chances = view.distributions[view.index[table.row_signature[rows]]]
            limits = asked.limits(view, rows)
            upper = swaps.bounds(chances, value_event, limits, apart=reader == "joint")
            found.take(rows, np.where((upper > limits).any(axis=1), OPEN, KEPT).astype(np.int8))
