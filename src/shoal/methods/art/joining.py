"""Groups that tell too much to whoever takes all counts together are joined to others.

Inside a cell of the matched sample people cannot be told apart, but exact counts of a thousand
strata and of hundreds of groups can be solved like a puzzle, and a few people stand out of it. The
search solves it too (knowledge/entropy.py), and joins every group with somebody who is too sure to
another of the same values, as long as all readers of one view stay within their limits. Groups are
joined by what is published of them alone, so that whoever knows how they were joined knows no more
than with the groups apart, and less than that of who was in which.

A group is joined to the one that leaves least: of the odds that the fit gives its people, all those
of both groups share the carriers of both. Where nobody of its values is left, groups of other
values do, and both are published pooled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, IntArray, Ints
from shoal.knowledge.entropy import (
    Groups,
    Strata,
    all_counts,
    event_cases,
    fit_groups,
    most_believed,
)
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.safety import safe_groups

NEAR, FEWEST, TRIED = 1_500, 4, 250_000
"""Groups that one is tried with, the best ones first, but not fewer than some; and, where none of
them does, pairs that are tried at the same time: divided by the number of columns (views times
readers) that each is checked in."""
HOPELESS, FALLS = 40, 0.8
"""More groups with somebody too sure must become fewer by this in a round, or it was the last."""
EARLY = (0.6, *(0.9,) * 8)
"""As long as somebody is too sure, groups are joined in which anybody is nearly so, in parts of the
most that may be, round by round: with those that were joined the puzzle is another, and others come
out."""
DOUBTED, EVEN, DOUBTS = 0.4, 0.5, 2
"""Nobody whose limit is below the first should be likelier than the second, which is less than is
promised: so many rounds are for that, if need be."""
ROUNDING = 5e-4
"""Nobody is too sure by less than this part of what may be, which is half of what the fit may be
off by."""
OTHERS = 2_000
"""Most groups that others are tried with, those with the largest odds for each of their carriers;
and most that are tried at the same time."""


def join_revealing(groups: Assembly, asked: Asked) -> NDArray[np.bool_]:
    """Joins groups until nobody is too sure, or none of those left can be joined: whose signatures
    these are."""
    strata = Strata.of(asked.whole, asked.knowledge)
    left = np.zeros(len(asked.table.signatures), bool)
    for event in range(len(asked.promises) if strata.views else 0):
        outset = all_counts(asked.whole, asked.knowledge).factors[event]
        factors, before = outset, np.inf
        for turn, early in enumerate((*EARLY, None)):
            found = _read(groups, asked, strata, event, factors)
            number = int((found.sure > 1.0).sum())
            if not number or (turn >= DOUBTS and not found.broken):
                found = _read(groups, asked, strata, event, outset)  # as who judges it begins
                if not found.broken:
                    break
                number = int((found.sure > 1.0).sum())
            factors = found.factors
            hopeless = number > HOPELESS and FALLS * before < number
            if hopeless or early is None or not _join_once(groups, asked, event, found, early):
                left[found.whom] = True
                break
            before = number
    return left


class _Read(NamedTuple):
    """What all counts say of each group; nothing of those without the event."""

    sure: Floats
    """How sure somebody is, in parts of what is aimed at."""
    odds: Floats
    """The odds that the fit gives its people, added up."""
    carriers: Ints
    whom: IntArray
    """The signatures of people who are surer than is promised."""
    factors: Floats | None

    @property
    def broken(self) -> bool:
        """Whether somebody is surer than is promised."""
        return bool(len(self.whom))


def _join_once(groups: Assembly, asked: Asked, event: int, found: _Read, early: float) -> int:
    """Joins groups in which somebody is as sure as `early`; how many."""
    values = {
        values: which
        for values, which in groups.by_values().items()
        if asked.promises[event].holds[values[0]]
    }
    taken, pool = np.zeros(len(groups), bool), len(asked.table.values)
    pairs: list[tuple[int, int, bool]] = []
    for (x, y), which in values.items():
        sure = which[found.sure[which] > early]
        pairs += _pairs(groups, asked, found, sure, which, (x, y), taken)
    for x in {x for x, _ in values} if asked.masks is None else ():
        which = np.concatenate([some for (value, _), some in values.items() if value == x])
        sure = which[(found.sure[which] > 1.0) & ~taken[which]]
        pairs += _pairs(groups, asked, found, sure, which, (x, pool), taken)
    groups.unite(pairs)
    return len(pairs)


def _pairs(
    groups: Assembly,
    asked: Asked,
    found: _Read,
    sure: Ints,
    others: Ints,
    values: tuple[int, int],
    taken: NDArray[np.bool_],
) -> list[tuple[int, int, bool]]:
    """Those of the others that groups can be joined to, the surest ones first, each the best that
    is left to it; and whether they are pooled from then on."""
    others = others[~taken[others]]
    poor = found.carriers[others] / found.odds[others]
    others = others[np.argsort(poor, kind="stable")[:OTHERS]]
    sure = sure[np.argsort(-found.sure[sure], kind="stable")[:OTHERS]]
    if not len(sure) or len(others) < 2:
        return []
    share = (found.carriers[sure][:, None] + found.carriers[others]) / (
        found.odds[sure][:, None] + found.odds[others]
    )
    share[sure[:, None] == others] = np.inf
    best = others[np.argsort(share, axis=1, kind="stable")[:, : len(others) - 1]]
    pairs: list[tuple[int, int, bool]] = []
    near = max(FEWEST, NEAR // asked.width)
    tried = 0
    for turn in range(3):
        left = ~taken[sure]
        budget = TRIED // asked.width // max(1, int(left.sum()))
        some = slice(tried, (FEWEST, near, budget)[turn])
        tried = max(tried, some.stop)
        one, other = np.repeat(sure[left], best[left, some].shape[1]), best[left, some].ravel()
        one, other = one[~taken[other]], other[~taken[other]]
        safe = safe_groups(groups.united(one, other), groups.cells, *values, asked)
        for a, b in zip(one[safe].tolist(), other[safe].tolist(), strict=True):
            if not (taken[a] or taken[b]):
                taken[[a, b]] = True
                pairs.append((a, b, values[1] == len(asked.table.values)))
    return pairs


def _read(
    groups: Assembly, asked: Asked, strata: Strata, event: int, factors: Floats | None
) -> _Read:
    members, copies = groups.all_lines()
    cells, holds = groups.cells, asked.promises[event].holds
    carries = np.where(holds[cells.value[members.cell]], members.number, 0)
    carriers = members.summed(carries).astype(np.int64)
    which = np.flatnonzero(carriers)
    some = members.some(which)
    told = Groups(
        some.start,
        cells.signature[some.cell],
        some.number,
        copies[which].astype(np.int64),
        carriers[which],
    )
    cases, missing = event_cases(asked.whole, event), groups.missing_people()
    found = fit_groups(strata, cases, told, missing, factors)
    limit = asked.most(event)[told.signature]
    most = most_believed(limit)
    aim = np.minimum(most, np.where(limit < DOUBTED, EVEN, 1.0))
    sure, odds = np.zeros((2, len(carriers)))
    np.maximum.at(sure, which[some.owner], found.posterior / aim)
    odds[which] = some.summed(np.exp(found.score[told.signature]) * some.number)
    whom = told.signature[found.posterior > most * (1.0 + ROUNDING)]
    return _Read(sure, odds, carriers, whom, found.factors)
