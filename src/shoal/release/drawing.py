"""Groups that are drawn until they hold, or as often as that may help."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import mul

from shoal.auditing.checks import by_chance, seeds
from shoal.auditing.verdict import Audit
from shoal.data.table import Table
from shoal.engines import Dealt
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.release.tables import canonical
from shoal.wording import TRY

MARGIN = 2.0
"""Later releases of a chain publish the same groups, and are judged by other statistics: their
limits are so many times stricter at first than those that they are judged by."""


@dataclass(frozen=True, eq=False)
class Draw:
    """Groups, their rows where these are here, and what was found."""

    grouping: Grouping
    dealt: Dealt | None
    audit: Audit

    @property
    def hopeless(self) -> bool:
        """Whether somebody is certain by earlier releases, whichever groups are drawn."""
        together = self.audit.releases
        return together is not None and together.told_certain > 0


def draw(
    table: Table,
    search: Callable[[Table, int], Grouping],
    judged: Callable[[Grouping], Draw],
    *,
    seed: int,
    blind: bool,
    margin: bool = False,
) -> Draw:
    """Searches and judges; with a `margin` for later statistics, if groups with one hold."""
    given = search, judged, seed, blind
    if margin:
        try:
            made = _draw(table.with_limits(partial(mul, MARGIN)), *given)
        except InputError:
            pass
        else:
            if made.audit.robust or made.hopeless:
                return made
    return _draw(table, *given)


def _draw(
    table: Table,
    search: Callable[[Table, int], Grouping],
    judged: Callable[[Grouping], Draw],
    seed: int,
    blind: bool,
) -> Draw:
    """A person's rows add up: their limits are divided until all together keep the person's.
    `blind` groups are drawn by chance: drawn anew they may keep what a few broke."""
    times, drawing = _divisors(table), seeds(seed)
    step = turn = 0
    last = None
    while True:
        divided = times[step]
        try:
            asked = table if divided == 1 else table.with_limits(partial(mul, divided))
            found = search(asked, drawing[turn])
        except InputError:
            if last is None:
                raise
            return last
        if last is not None and not found.published:
            return last
        _refuse_nothing(found, table)
        last = judged(canonical(table, found))
        together = last.audit.persons is None or last.audit.persons.kept
        if not together and step + 1 < len(times):
            step += 1
        elif (
            blind and turn + 1 < len(drawing) and by_chance(last.audit.checks) and not last.hopeless
        ):
            turn += 1
        else:
            return last


def _divisors(table: Table) -> list[int]:
    """By how much limits of rows are divided, one after the other: at last by the most rows that
    one person has, which is enough for all of them together."""
    most = 1 if table.persons is None else table.persons.most_rows
    return [*itertools.takewhile(lambda one: one < most, (1 << n for n in range(32))), most]


def _refuse_nothing(grouping: Grouping, table: Table) -> None:
    if not grouping.published:
        raise InputError(
            "nothing-published",
            f"Nobody can be published at r = {table.spec.r:g}: too few people are left to hide the "
            "cases in groups, or among those who are left out.",
            f"`shoal plan` says what stands in the way. {TRY}",
        )
