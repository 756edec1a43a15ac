"""What earlier releases told already: a release that repeats their groups is not charged with it.

Whoever takes one group at a time knows of an earlier group's people what they knew before. Whoever
takes all groups together may know more of them now: then those are charged who were within their
limit by the earlier releases alone, with what is known today.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.arrays import Bools
from shoal.auditing.adversaries.adversary import WholeReader
from shoal.auditing.adversaries.judging import Case, Judgement
from shoal.groups.partition import Partition
from shoal.knowledge import Knowledge, View


def untold(part: Partition, told: Bools) -> Partition:
    """The groups that no earlier release publishes; `told` is of every group, by its number."""
    return part.some(np.flatnonzero(~told[part.group_number]))


def judge_after(
    one: WholeReader, case: Case, told: Bools, earlier: Partition, knowledge: Knowledge
) -> tuple[View, Judgement]:
    """What a reader of all groups makes of them, without those above their limit by the `earlier`
    groups alone, which are the ones that are `told`."""
    view, now = one.judge_whole(case, knowledge)
    before = replace(case, partition=earlier)
    mine = np.flatnonzero(told[case.partition.group_number[case.partition.pairs.owner[case.held]]])
    if not len(mine):
        return view, now
    known = one.judge_whole(before, knowledge)[1]
    above = mine[known.breach]
    posterior, event, breach = now.posterior.copy(), now.event.copy(), now.breach.copy()
    posterior[above], event[above], breach[above] = 0.0, -1, False
    worst, pair = np.zeros_like(now.event_worst), np.full_like(now.event_pair, -1)
    for number in range(len(worst)):
        own = np.flatnonzero(event == number)
        if len(own):
            most = own[np.argmax(posterior[own])]
            worst[number], pair[number] = posterior[most], case.held[most]
    return view, replace(
        now,
        posterior=posterior,
        event=event,
        breach=breach,
        event_worst=worst,
        event_pair=pair,
    )
