"""Audit: is this grouping r-robust, and if not, who is exposed, through what, by how much.

The adversary knows who is in which group, which values the group holds, and, one view at a time,
the exact distribution of the sensitive value for every signature. The joint adversary weighs a
possible world by the probability of every value in it (equations 1 to 3 of the paper); the binary
one tells only one event from the rest. Nothing here is shared with the anonymizers.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from shoal.arrays import Bools, Floats, IntArray
from shoal.auditing.adversaries.adversary import Adversaries, Anybody, judging, reads_whole
from shoal.auditing.adversaries.aspects import for_table, readings, two_valued
from shoal.auditing.adversaries.even import Even
from shoal.auditing.adversaries.joint import JOINT_BUDGET
from shoal.auditing.adversaries.judging import Case, Earlier, Judgement
from shoal.auditing.counting import certain_people, count_classes, count_missing
from shoal.auditing.measures import (
    counted,
    deviations_by_view,
    guess_rate,
    known_by_all,
    nearest,
    risk_by_view,
    row_risks,
    verdict_of,
    worst_by_event,
    worst_witness,
)
from shoal.auditing.models import other_models
from shoal.auditing.persons import ByPerson, PersonVerdict
from shoal.auditing.releases import judge_after
from shoal.auditing.row_risks import KnownRows
from shoal.auditing.seen import Lens, Seen, judge_beside
from shoal.auditing.verdict import Audit
from shoal.data.spec import Limit, checked_r, checked_seed
from shoal.data.table import Table
from shoal.data.table.frames import to_polars
from shoal.errors import InputError
from shoal.groups import Grouping, Progress, silent
from shoal.groups.lookup import Lookup, lookup_of, readable_people
from shoal.groups.partition import Partition, number_groups
from shoal.groups.suppressed import left_out, missing_people
from shoal.knowledge import Assumed, Knowledge, check_groups

THREADED = 1000
"""To judge a table of fewer people takes less than to start a thread."""


def audit(
    table: Table,
    groups: Any,
    *,
    knowledge: Knowledge | None = None,
    r: float | None = None,
    limit: Limit | None = None,
    adversary: Adversaries = "joint",
    budget: float = JOINT_BUDGET,
    seed: int = 0,
    rows: IntArray | None = None,
    models: bool = False,
    lookup: Lookup | None = None,
    told: Bools | None = None,
    weight: Floats | None = None,
    progress: Progress = silent,
) -> Audit:
    """Judges a grouping of a table.

    `groups` is a Grouping, or one label per row (missing, or the number -1: not published); of a
    Grouping that was dealt, `rows` is the group of each row, for naming people by their row.
    `r` replaces the spec's r where an event has none of its own, and `limit` the spec's. Exact up
    to `budget` steps per group and view; beyond it, certified bounds, and estimates (from `seed`)
    that can call a breach but never call a table robust; the adversary of all views alone decides
    by estimates. `models` adds the thresholds of other
    models of privacy. `lookup` tells who shares a published combination of QI values, where what is
    published of them is not what the table has. `told` are the groups that earlier releases publish
    as well: what one group tells of their people is known without this release, and is held against
    them no more; counts over all groups are. `weight` is what each row counts as there.
    """
    grouping, labels, rows = grouped(table, groups, rows)
    whole = Partition.of(table, grouping)
    check_groups(table, whole.groups)
    known = knowledge or Knowledge.of(table)
    known.check_columns(table)
    adversaries = for_table(judging(adversary, known, table.spec), table)
    own = np.array([event.r or np.nan for event in table.events])
    strength = checked_r(table.spec.r if r is None else r)
    event_r = np.where(np.isnan(own), strength, own)
    case = Case(
        table=table,
        partition=whole,
        event_r=event_r,
        limit=limit or table.spec.limit,
        beforehand=known.largest_chances(table),
        budget=budget,
        seed=checked_seed(seed),
        earlier=None if told is None else _earlier(table, grouping, told),
    )
    everybody, people = case, KnownRows(table, whole, rows, labels)
    if not all(map(reads_whole, adversaries)):
        case = case.new
    seen = Seen(case, replace(people, partition=case.partition))
    apart = seen if all(map(reads_whole, adversaries)) else Seen(everybody, people)
    persons = ByPerson(case, rows, two_valued(readings(adversaries, case)))
    whole_lenses = (
        Lens(one.name, *one.judge_whole(everybody, known))
        for one in adversaries
        if reads_whole(one)
    )
    _judge_all(case, adversaries, known, seen, apart, persons, whole_lenses, progress)
    of_people = persons.verdict()
    found = _assemble(
        case, everybody, known, adversaries, seen, apart, strength, grouping, of_people
    )
    if told is not None and rows is not None:
        pooled = None if grouping.pooled is None else np.append(grouping.pooled, False)
        found = replace(found, releases=judge_after(case, known, told, rows, pooled, weight))
    found = found if lookup is None else replace(found, lookup=lookup)
    found = found.checked(nearest(apart) if any(map(reads_whole, adversaries)) else None)
    return replace(found, models=other_models(table, grouping)) if models else found


def _earlier(table: Table, made: Grouping, told: Bools) -> Earlier:
    mine = told[made.group]
    return Earlier.of(table, told, made.signature[mine], made.value[mine], made.people[mine])


def grouped(
    table: Table, groups: Any, rows: IntArray | None
) -> tuple[Grouping, tuple[str, ...] | None, IntArray | None]:
    """The groups as counts, their names where the caller gave some, and the group of each row."""
    labels = None
    if not isinstance(groups, Grouping):
        series = groups if isinstance(groups, pl.Series) else _series(groups)
        series = series if table.persons is None else table.persons.labels(series)
        if len(series) != table.rows:
            raise InputError(
                "groups-length",
                f"There are {len(series)} group labels for {table.rows} rows.",
                "Give one label per row of the table.",
            )
        rows, labels = number_groups(series)
        groups = Grouping.of_rows(table, rows)
    if not groups.published:
        raise InputError(
            "nothing-published", "No row is in a group.", "Label the groups of published rows."
        )
    return groups, labels, rows


def _series(groups: Any) -> pl.Series:
    try:
        return pl.Series("group", groups)
    except (TypeError, ValueError):
        return to_polars({"group": groups})["group"]


def _judge_all(
    case: Case,
    adversaries: Sequence[Anybody],
    knowledge: Knowledge,
    seen: Seen,
    apart: Seen,
    persons: ByPerson,
    lenses: Iterator[Lens],
    progress: Progress,
) -> None:
    """Every adversary through every view, taken in one after another; apart from them, whoever
    takes all views together, whose limits are others, unless nobody else judges."""
    read = readings(adversaries, case)
    even = Even.of(case) if any(one.evenly for one in read) else None
    pairs = [(one, view, i) for one in read for i, view in enumerate(knowledge.views)]
    tasks = [partial(one.judge_apart, even, view, i) for one, view, i in pairs]
    few = case.table.rows < THREADED
    judgements = (task() for task in tasks) if few else _ahead(tasks)
    for number, ((one, view, _), judgement) in enumerate(zip(pairs, judgements, strict=True)):
        lens = Lens(one.adversary.name, view, judgement)
        seen.take(lens)
        persons.take(lens)
        progress("judging", number + 1, len(pairs))
    for _ in filter(reads_whole, adversaries):
        progress("all views", 0, 1)
        lens = next(lenses)
        apart.take(lens)
        persons.take(lens)
        progress("all views", 1, 1)
    for lens in judge_beside(case, adversaries, knowledge, even):
        seen.take(lens, beside=True)
        persons.take(lens)


def _ahead(tasks: Sequence[Callable[[], Judgement]]) -> Iterator[Judgement]:
    """What tasks give, in their order, while other threads work on the next ones."""
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Judgement]] = deque()
        try:
            for number in range(len(tasks)):
                for task in tasks[number + len(waiting) : number + workers + 1]:
                    waiting.append(pool.submit(task))
                yield waiting.popleft().result()
        finally:
            for left in waiting:
                left.cancel()


def _assemble(
    case: Case,
    everybody: Case,
    knowledge: Knowledge,
    adversaries: Sequence[Anybody],
    seen: Seen,
    apart: Seen,
    r: float,
    grouping: Grouping,
    persons: PersonVerdict | None,
) -> Audit:
    table, part = case.table, case.partition
    absence = count_missing(everybody, knowledge, missing_people(table, left_out(table, grouping)))
    readable = readable_people(table, grouping)
    lenses = seen.judged
    risks = row_risks(case, seen)
    breach = risks.worst["problematic"].to_numpy()
    undecided = risks.worst["undecided"].to_numpy()
    impossible = np.unique(np.concatenate([one.judged.contradictory for one in lenses]))
    contradictory = int(part.copies[impossible].sum())
    by_adversary = {
        one.name: verdict_of(
            everybody if among is apart else case,
            one.reasoning,
            [lens for lens in among.judged if lens.adversary == one.name],
            *among.flags(one.name),
        )
        for one in adversaries
        for among in [apart if reads_whole(one) else seen]
    }
    carriers = everybody.partition.cases
    known = np.asarray(case.known.any(axis=1))
    deltas, meets, holding = deviations_by_view(case, knowledge.views)
    told = [*zip(knowledge.views, deltas, strict=True)]
    if apart is seen:
        whole = [lens.view for lens in lenses]
        told += zip(whole, deviations_by_view(case, whole)[0], strict=True)
    return Audit(
        checks=(),
        r=r,
        limit=case.limit,
        by_adversary=by_adversary,
        rows=table.rows,
        published=part.published,
        suppressed=table.rows - part.published,
        suppressed_carriers=table.carriers - carriers,
        groups=everybody.partition.all_groups,
        readable=readable.people,
        readable_by_attributes=readable.by_attributes,
        views=len(knowledge.views),
        knowledge=knowledge.source,
        worst=worst_witness(risks, table, seen),
        worst_by_event=worst_by_event(case, seen, risks),
        problematic=int(part.people_of(risks.held[breach]).sum()),
        carriers=carriers,
        problematic_carriers=part.cases_of(risks.held[breach]),
        undecided=int(part.people_of(risks.held[undecided]).sum()),
        contradictory=contradictory,
        average_delta=float(deltas[:, 0].mean()),
        average_delta_carrying=float(deltas[:, 1].mean()),
        average_bound=float(deltas[:, 2].mean()),
        theorem1_groups=int(part.copies[meets & holding].sum()),
        event_groups=int(part.copies[holding].sum()),
        guess_rate=guess_rate(lenses),
        by_view=risk_by_view(case, seen, told),
        posteriors=counted(lenses),
        known_before=int(part.signature_people[known].sum()),
        counter=count_classes(everybody, knowledge),
        certain=0 if part.distorted else certain_people(everybody, knowledge),
        absence=absence,
        lookup=lookup_of(table, grouping),
        assumed=Assumed.of(table, knowledge),
        risks=risks,
        native=table.native,
        fitted=knowledge.models,
        persons=persons,
        **known_by_all(everybody, apart.lenses),
    )
