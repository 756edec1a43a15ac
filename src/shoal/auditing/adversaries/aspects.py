"""Who reads what: of several sensitive columns each alone, and all together.

The joint adversary reads every column alone, by its own distribution. The one called *together*
reads all columns at once, by their joint distribution. The binary one tells an event from all else,
whichever columns it is of. Each reading is that of an ordinary table (table/several.py), and is
brought back to the groups of the whole. Where columns are published apart, there are no
combinations to read, and every column is read alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from shoal.auditing.adversaries.adversary import (
    Adversary,
    Anybody,
    Binary,
    Joint,
    Together,
    by_view,
)
from shoal.auditing.adversaries.even import Even
from shoal.auditing.adversaries.judging import Case, Judgement
from shoal.data.table import Table
from shoal.data.table.several import Aspect
from shoal.errors import InputError
from shoal.knowledge import View, seen_in


class AspectReading(NamedTuple):
    """One adversary's way to read a table."""

    adversary: Adversary
    aspect: Aspect | None
    """None: the table as it is."""
    whole: Case
    case: Case
    """What is judged in that aspect."""

    def judge(self, view: View, number: int) -> Judgement:
        """Everybody's posteriors in the `number`th view."""
        if self.aspect is None:
            return self.adversary.judge(self.case, view, number)
        seen = seen_in(view, self.aspect.table)
        return _lifted(self, self.adversary.judge(self.case, seen, number))

    @property
    def evenly(self) -> bool:
        """Whether this reader gives all who are alike the same share."""
        reads = type(self.adversary).judge
        return self.aspect is None and reads in (Joint.judge, Binary.judge)

    def judge_apart(self, even: Even | None, view: View, number: int) -> Judgement:
        """Judges a view, even groups apart where the reader and the view allow it."""
        by_value = type(self.adversary).judge is Joint.judge
        if even is None or not self.evenly or not even.possible(view, by_value=by_value):
            return self.judge(view, number)
        return even.judge(view, number, by_value=by_value)


def for_table(adversaries: Sequence[Anybody], table: Table) -> tuple[Anybody, ...]:
    """The adversaries of a table: of several columns, whoever weighs values also weighs them
    together, unless they are published apart."""
    names, apart = [one.name for one in adversaries], table.spec.publish_apart
    if apart and "together" in names:
        raise InputError(
            "adversary-apart",
            "Columns that are published apart show no combinations for the adversary together.",
            "Choose among: joint, binary, all-views.",
        )
    if table.several is None or apart or "joint" not in names or "together" in names:
        return tuple(adversaries)
    return (*adversaries, Together())


def readings(everybody: Sequence[Anybody], case: Case) -> list[AspectReading]:
    """All that those adversaries do to a table who take one view at a time."""
    adversaries = by_view(everybody)
    several, apart = case.table.several, case.table.spec.publish_apart
    if several is None:
        return [AspectReading(one, None, case, case) for one in adversaries]
    cases = [_read(case, aspect) for aspect in several.aspects]
    return [
        AspectReading(one, aspect, case, seen)
        for one in adversaries
        for aspect, seen in zip(several.aspects, cases, strict=True)
        if (not apart and one.name in ("binary", "together")) == (aspect.column is None)
    ]


def two_valued(read: Sequence[AspectReading]) -> dict[str, Adversary]:
    """By name, those who weigh a group of two values by odds alone."""
    return {one.adversary.name: one.adversary for one in read if one.evenly}


def _read(case: Case, aspect: Aspect) -> Case:
    events = list(aspect.events)
    return replace(
        case,
        table=aspect.table,
        partition=case.partition.read(aspect),
        event_r=case.event_r[events],
        beforehand=np.ascontiguousarray(case.beforehand[:, events]),
    )


def _lifted(reading: AspectReading, judged: Judgement) -> Judgement:
    """What an aspect says of its events, for the pairs and the events of the whole."""
    whole, aspect = reading.whole, reading.aspect
    assert aspect is not None
    held = whole.held
    place = np.searchsorted(held, reading.case.held)
    numbers = np.append(np.array(aspect.events, np.int32), np.int32(-1))
    worst = np.zeros(len(whole.table.events))
    pair = np.full(len(whole.table.events), -1, np.int64)
    worst[list(aspect.events)] = judged.event_worst
    pair[list(aspect.events)] = judged.event_pair
    lifted = Judgement(
        posterior=np.zeros(len(held)),
        event=np.full(len(held), -1, np.int32),
        breach=np.zeros(len(held), bool),
        kind=np.zeros(len(held), np.int8),
        undecided=np.zeros(len(held), bool),
        guesses=judged.guesses,
        counted=judged.counted,
        contradictory=judged.contradictory,
        event_worst=worst,
        event_pair=pair,
    )
    lifted.event[place] = numbers[judged.event]
    for name in ("posterior", "breach", "kind", "undecided"):
        getattr(lifted, name)[place] = getattr(judged, name)
    return lifted
