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

from shoal.arrays import Bools, Floats, IntArray, Ints
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
from shoal.methods.art.columns import Columns
from shoal.methods.art.kernels.unite import Lines, choose
from shoal.methods.art.safety import safe_groups

FEWEST, TRIED = 25, 40_000
"""Groups that one is tried with, the best ones first; and pairs that are tried at the same time,
where that is more."""
HOPELESS, FALLS = 40, 0.8
"""More groups with somebody too sure must become fewer by this in a round, or it was the last."""
EARLY, LATER = (0.6, *(0.9,) * 12), (0.9,) * 4
"""As long as somebody is too sure, groups are joined in which anybody is nearly so, in parts of the
most that may be, round by round: with those that were joined the puzzle is another, and others come
out. The second is for groups that were joined before."""
DOUBTED, EVEN, DOUBTS = 0.4, 0.5, 2
"""Nobody whose limit is below the first should be likelier than the second, which is less than is
promised: so many rounds are for that, if need be, and so many more once others of their strata are
in groups with the event, too."""
ROUNDING = 5e-4
"""Nobody is too sure by less than this part of what may be, which is half of what the fit may be
off by."""
OTHERS = 2_000
"""Most groups that others are tried with, those with the largest odds for each of their carriers;
and most that are tried at the same time."""


def join_revealing(groups: Assembly, asked: Asked, *, first: bool = True) -> tuple[Bools, Bools]:
    """Joins groups until nobody is too sure, or none of those left can be joined: of each
    signature, whether somebody is surer than is promised, and than is aimed at. `first`: whether
    these groups were not joined before."""
    strata = Strata.of(asked.whole, asked.knowledge)
    broken, doubted = np.zeros((2, len(asked.table.signatures)), bool)
    for event in range(len(asked.promises) if strata.views else 0):
        outset = all_counts(asked.whole, asked.knowledge).factors[event]
        factors, before = outset, np.inf
        for turn, early in enumerate((*(EARLY if first else LATER), None)):
            found = _read(groups, asked, strata, event, factors)
            number = int((found.sure > 1.0).sum())
            if turn and (not number or (turn >= DOUBTS and not len(found.broken))):
                found = _read(groups, asked, strata, event, outset)  # as who judges it begins
                number = int((found.sure > 1.0).sum())
            factors = found.factors
            hopeless = number > HOPELESS and FALLS * before < number
            before = number
            if not number or (turn >= DOUBTS and not len(found.broken)) or hopeless:
                early = None
            if early is None or not _join_once(groups, asked, event, found, early):
                broken[found.broken] = doubted[found.doubted] = True
                break
    return broken, doubted


class _Read(NamedTuple):
    """What all counts say of each group; nothing of those without the event."""

    sure: Floats
    """How sure somebody is, in parts of what is aimed at."""
    odds: Floats
    """The odds that the fit gives its people, added up."""
    carriers: Ints
    broken: IntArray
    """The signatures of people who are surer than is promised."""
    doubted: IntArray
    """And of those who are surer than is aimed at."""
    factors: Floats | None


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
    taken: Bools,
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
    best = others[np.argsort(share, axis=1, kind="stable")[:, : max(FEWEST, TRIED // len(sure))]]
    which, place = np.unique(np.append(sure, best), return_inverse=True)
    members, cells = groups.lines(which), groups.cells
    kinds, kind = np.unique(cells.signature[members.cell], return_inverse=True)
    lines = Lines(members.start, kind, members.number, found.carriers[which])
    chosen = choose(
        place[: len(sure)],
        place[len(sure) :].reshape(best.shape),
        lines,
        Columns.weights_of(asked, kinds, *values),
        taken[which],
    )
    one, other = sure[chosen >= 0], which[chosen[chosen >= 0]]
    safe = safe_groups(groups.united(one, other), cells, *values, asked)
    one, other = one[safe], other[safe]
    taken[one] = taken[other] = True
    pooled = values[1] == len(asked.table.values)
    return [(a, b, pooled) for a, b in zip(one.tolist(), other.tolist(), strict=True)]


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
    aim = np.minimum(most, np.where(limit < DOUBTED, EVEN, 1.0)) * (1.0 + ROUNDING)
    sure, odds = np.zeros((2, len(carriers)))
    np.maximum.at(sure, which[some.owner], found.posterior / aim)
    odds[which] = some.summed(np.exp(found.score[told.signature]) * some.number)
    broken, doubted = (
        told.signature[found.posterior > one] for one in (most * (1.0 + ROUNDING), aim)
    )
    return _Read(sure, odds, carriers, broken, doubted, found.factors)
