"""Bounds of posteriors where groups of several releases overlap widely.

Two people who are together in every release can swap their values, and no release shows another
thing. Of N such people let m have an event, and let a world with a person having it be at most rho
times as likely as the same with that person and another swapped: then nobody has the event with
more than rho m / (N - m + rho m). Groups say only how large m is at most; more of them make the
bound larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Bools, Floats, Ints
from shoal.auditing.adversaries.kernels.judge import TOLERANCE
from shoal.auditing.releases.constraints import Constraints


@dataclass(frozen=True, eq=False)
class Swaps:
    """Those of some rows who are together in every release, with others."""

    rows: Ints
    """Those rows, by their numbers."""
    possible: Bools
    """rows x events: whether the row can have the event at all."""
    crowds: list[Ints]
    """Places among the rows of people who are together."""
    most: Ints
    """crowds x events: how many of a crowd have the event at most."""
    part: list[Ints]
    """Of each crowd: values that no group tells apart have one number."""
    left: Bools
    """rows x values: what each can have."""

    @classmethod
    def of(cls, told: Constraints, rows: Ints, left: Bools, *, apart: bool) -> Swaps:
        """`left` is what each row can have. `apart`: for a reader who tells values apart, and not
        one event from all else."""
        held = np.vstack([told.held, np.full(told.held.shape[1], len(rows) + told.held.max())])
        most = held[told.place[:, rows]].min(axis=0)
        possible = most > 0
        if apart:
            own = told.table.value_event[:, None] == np.arange(held.shape[1])
            possible = (left.astype(np.int64) @ own) > 0
        places, crowd, people = np.unique(
            told.place[:, rows], axis=1, return_inverse=True, return_counts=True
        )
        order = np.argsort(crowd.ravel(), kind="stable")
        ends = np.cumsum(people)
        chosen = np.flatnonzero(people > 1)
        crowds = [order[ends[c] - people[c] : ends[c]] for c in chosen]
        part = [_parts(told, places[:, c][places[:, c] >= 0]) for c in chosen] if apart else []
        first = np.array([mine[0] for mine in crowds], np.int64)
        return cls(rows, possible, crowds, most[first], part, left)

    def bounds(self, chances: Floats, value_event: Ints, allowed: Floats, *, apart: bool) -> Floats:
        """rows x events: at most so sure is the reader. `chances` are rows x values; `allowed` is
        the limit, rows x events: where people who are alike would be above it, nothing is
        reckoned."""
        upper = self.possible.astype(np.float64)
        for number, mine in enumerate(self.crowds):
            people, left = len(mine), self.left[mine[0]]
            for event in np.flatnonzero(self.possible[mine[0]]):
                few = int(min(self.most[number, event], people))
                if few == people or few / people > allowed[mine, event].max():
                    continue
                own, is_event = chances[mine], value_event == event
                if not apart:
                    held = own[:, is_event].sum(axis=1, keepdims=True)
                    others = 1.0 - held
                elif (left & ~is_event).any():
                    held = _summed(own, self.part[number], left & is_event)
                    others = _summed(own, self.part[number], left & ~is_event)
                else:
                    continue
                ratio = _ratio(held, others)
                with np.errstate(invalid="ignore"):
                    told = ratio * few / (people - few + ratio * few)
                told = told + np.where(ratio == 1.0, 0.0, TOLERANCE)
                upper[mine, event] = np.where(np.isnan(told), 1.0, told)
        return upper


def _parts(told: Constraints, groups: Ints) -> Ints:
    ways = {(int(told.release[g]), bool(told.pooled[g])) for g in groups}
    shows = [told.shows(one[0], pooled=one[1]) for one in sorted(ways)]
    alike = np.stack([told.table.value_event, *shows])
    return np.unique(alike, axis=1, return_inverse=True)[1].ravel()


def _summed(chances: Floats, part: Ints, values: Bools) -> Floats:
    """The chances of some values, those that no group tells apart added up."""
    parts = np.unique(part[values])
    return np.stack([chances[:, part == one].sum(axis=1) for one in parts], axis=1)


def _ratio(held: Floats, others: Floats) -> Floats:
    """Of each person: the largest factor between a world in which they have one of the values
    `held` and somebody with them one of the `others`, and that in which the two are swapped."""
    kinds, kind, people = np.unique(
        np.column_stack([held, others]), axis=0, return_inverse=True, return_counts=True
    )
    held, others = kinds[:, : held.shape[1]], kinds[:, held.shape[1] :]
    ratio = np.zeros(len(kinds))
    with np.errstate(divide="ignore", invalid="ignore"):
        for u in range(len(kinds)):
            mine = np.where(held[u] == 0, 0.0, held[u] / held).max(axis=1)
            theirs = np.where(others == 0, 0.0, others / others[u]).max(axis=1)
            factor = np.nan_to_num(mine * theirs, nan=np.inf, posinf=np.inf)
            mates = np.ones(len(kinds), bool)
            mates[u] = people[u] > 1
            ratio[u] = factor[mates].max(initial=0.0)
    return ratio[kind.ravel()]
