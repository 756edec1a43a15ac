"""Blind groups for a whole table, of cells as large as can be.

Large cells tell an insider less; small ones find partners where people are scarce. So cells begin
at twice r and become smaller until few people are in pooled groups, which do not show their values,
and nobody is lost, or few are and their absence tells nothing. The numbers in the code are those of
ART's steps (art.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shoal.groups import Progress, silent
from shoal.methods.art.absence import leave_out_lookalikes
from shoal.methods.art.alike import group_alike
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.blind import Blindness, hide_blindly
from shoal.methods.art.certain import unsettle
from shoal.methods.art.decoys import add_decoys
from shoal.methods.art.joining import join_revealing
from shoal.methods.art.mixed import mix_events

RATE = 4.0
"""The first attempt is a matched sample: one in so many times r people of it carries."""
AGAIN = 3
"""A matched sample that loses somebody, or after which few are still too sure, is drawn anew; the
last of so many times, everybody is of it."""
ATTEMPTS, FEWER_ATTEMPTS = 6, 2
"""Fewer where several sensitive columns leave many masks, with few carriers each."""
HARDLY_ANY, FEW, MANY = 0.01, 0.05, 0.15
"""Shares of the carriers. Cells become smaller, and events are mixed at last, rather than lose more
than a few, whatever may be lost; by a little if few are lost, and by far if many are. Many are
given up at most so that absence tells nothing."""
MOST_POOLED, MOST_MATCHED = 0.15, 0.2
"""Cells become smaller rather than put a larger share of the people into pooled groups, and a
matched sample is given up."""
CROWD, CROWDED, STUBBORN = 3.0, 4, 40
"""Of strata with somebody who stands out to whoever takes all counts together, so many times r
people more are in groups with the event, twice as many the next time, so many times, unless people
of more signatures stand out."""
SHRINKS = {True: (1.0, 0.7, 0.45, 0.35), False: (0.85, 0.7, 0.5, 0.5)}
"""How much smaller cells become where hardly any are lost, or few, or more, or many; by whether
some were joined, which they are at the first attempt alone."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """What came of one size of cells."""

    groups: Assembly
    how: Blindness
    lost: int
    pooled: float
    """How many more people are in pooled groups than should be."""
    kept: bool
    """Whether absence tells nothing, and no more are pooled than should be."""


def group_blindly(
    asked: Asked,
    how: Blindness,
    *,
    most_lost: float,
    may_lose: float,
    seed: int,
    progress: Progress,
) -> Attempt:
    """The best of some attempts: of those that lose at most `most_lost` carriers one whose absences
    tell nothing and that pools few, and of these the one that loses fewest. If none is kept, as
    many as `may_lose` are lost so that absence tells nothing."""
    random = np.random.default_rng(seed)
    made: list[tuple[int, Attempt]] = []
    for turn in range(AGAIN):
        given = asked, how, most_lost, may_lose, seed, random, progress
        made.append(_group_once(*given, matched=turn < AGAIN - 1))
        sure, one = made[-1]
        if one.how.rate is None or sure > STUBBORN or not (sure or one.lost):
            break
    return min(made, key=lambda pair: (pair[0] > 0, pair[1].lost))[1]


def _group_once(
    asked: Asked,
    how: Blindness,
    most_lost: float,
    may_lose: float,
    seed: int,
    random: np.random.Generator,
    progress: Progress,
    *,
    matched: bool,
) -> tuple[int, Attempt]:
    """The same with the next random numbers; and how many signatures have somebody too sure."""
    attempts: list[Attempt] = []
    if matched and how.cell is None and asked.whole.several is None:
        sampled = replace(how, rate=RATE)
        one = _attempt(asked, sampled, most_lost, random, progress)
        attempts += [one] if one.kept and one.lost <= HARDLY_ANY * asked.carriers else []
    while not attempts or len(attempts) < (
        ATTEMPTS if asked.whole.several is None else FEWER_ATTEMPTS
    ):
        if attempts and attempts[0].how.rate is not None:
            break
        one = _attempt(asked, how, most_lost, random, progress)
        attempts.append(one)
        if one.kept or how.cell is not None:
            break
        lost = np.searchsorted((HARDLY_ANY, FEW, MANY), one.lost / asked.carriers)
        before, how = how, how.smaller(SHRINKS[how.wide][lost])
        if not before.wide and _sizes(how, asked) == _sizes(before, asked):
            break  # cells cannot become smaller
    best = min(attempts, key=lambda one: (one.lost > most_lost, not one.kept, one.pooled, one.lost))
    one_column = asked.whole.several is None
    if best.lost > most_lost and one_column:
        mix_events(best.groups, asked, seed=seed, progress=progress)  # 4
    if not best.kept and (one_column or best.lost <= may_lose):
        again = _hiding_again(best.groups, asked, best.how, random)
        leave_out_lookalikes(best.groups, asked, random, how.least, may_lose, again)
    if not one_column:  # before decoys take whom it needs
        unsettle(best.groups, asked, random)
    crowd = np.zeros(len(asked.table.signatures))
    for turn in range(CROWDED):
        before = best.groups.cells.free.sum()
        add_decoys(best.groups, asked, random, crowd)  # 6
        best.groups.drop_unsafe(asked)
        if turn > 0 and best.groups.cells.free.sum() == before:
            break  # nobody is left who would help
        sure, doubted = join_revealing(best.groups, asked, first=turn == 0)  # 7
        whom = doubted if doubted.sum() <= STUBBORN else sure
        if not 0 < whom.sum() <= STUBBORN:
            break
        crowd[whom] = np.maximum(2.0 * crowd[whom], CROWD)
    if not one_column:
        unsettle(best.groups, asked, random)  # again
    return int(sure.sum()), best


def _sizes(how: Blindness, asked: Asked) -> list[int]:
    """Of each event: the fewest people of a cell."""
    return [how.size(float(r)) for r in asked.table.event_r]


def _attempt(
    asked: Asked, how: Blindness, most_lost: float, random: np.random.Generator, progress: Progress
) -> Attempt:
    groups = Assembly.of(asked, how.rate or np.inf)  # 1
    several = asked.whole.several is not None
    if several:
        group_alike(groups, asked, how.least)
    if several or groups.cells.filler_suffices():
        hide_blindly(groups, asked, how, random=random, progress=progress)  # 2
        groups.drop_unsafe(asked)  # 3
    if several:  # who goes where with which combination, is drawn for each group
        groups.separate()
    most = MOST_POOLED if how.rate is None else MOST_MATCHED
    pooled = max(0.0, groups.people("pooled") - most * asked.rows)
    again = _hiding_again(groups, asked, how, random)
    kept = (
        groups.cells.waiting <= most_lost
        and pooled == 0
        and leave_out_lookalikes(groups, asked, random, how.least, most_lost, again)  # 5
    )
    return Attempt(groups, how, groups.cells.waiting, pooled, kept)


def _hiding_again(
    groups: Assembly, asked: Asked, how: Blindness, random: np.random.Generator
) -> Callable[[], None]:
    """Finds groups for carriers who are free, among people who are."""

    def hide() -> None:
        hide_blindly(groups, asked, how, random=random, progress=silent, rounds=1)
        groups.drop_unsafe(asked)
        if asked.whole.several is not None:
            groups.separate()

    return hide
