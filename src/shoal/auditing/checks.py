"""The verdict on a release: a list of checks, and one rule.

Everything that is promised is a check; what was not asked for, or is not covered, stands in the
same list, in grey. To add one, write a function that reads its state from public figures, list it
in `CHECKS`, and say it in `SAID` (`check_words.py`): terminal, JSON, certificate, README, report,
evidence and workbench show the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from shoal.wording import WHOLE

if TYPE_CHECKING:
    from shoal.auditing.attacked import PublicAttack
    from shoal.auditing.findings import Judged

State = Literal["kept", "broken", "undecided", "not asked"]
Nearest = Mapping[str, tuple[float, float]]
"""By a check's name: the largest figure, as a share of its limit, and that limit."""
BEFORE_CHECKS = ("one-view", "all-views", "suppression")
"""What verdicts were made of before certificates listed checks."""

DRAWN = ("all-views", "certainty", "counting", "suppression")
"""The checks that no search answers beforehand."""
HANDFUL, TURNS, APART = 10, 4, 1_000_003


@dataclass(frozen=True)
class Check:
    """One thing that is promised of a release, or is said not to be."""

    name: str
    state: State
    people: int | None = None
    """Whom it is about: above their limit if it is broken, not decided if that is its state."""
    worst: float | None = None
    """The chance that comes nearest to its limit, or lies farthest above it."""
    limit: float | None = None
    """What was allowed there."""


def verdict(checks: Iterable[Check]) -> bool | None:
    """False if a check is broken, None if none is but one is not decided, else True."""
    states = {check.state for check in checks}
    return robustness(breach="broken" in states, undecided="undecided" in states)


def robustness(*, breach: bool, undecided: bool) -> bool | None:
    """The rule."""
    return False if breach else None if undecided else True


def checks_of(found: Judged, nearest: Nearest | None = None) -> tuple[Check, ...]:
    """The checks, by what anybody may know of how a release was judged."""
    made = []
    for name, judge in CHECKS.items():
        if (one := judge(found)) is not None:
            worst, limit = (nearest or {}).get(name, (None, None))
            made.append(Check(name, *one, worst, limit))
    return tuple(made)


def nearest_link(checks: Iterable[Check], largest: float) -> float:
    """The link of one view that comes nearest to its limit, or lies farthest above it; of records
    that do not say it, the `largest` of all."""
    told = next((one.worst for one in checks if one.name == "one-view"), None)
    return largest if told is None else told


def largest_chance(checks: Iterable[Check], largest: float) -> float:
    """The largest chance of a protected value that any check tells of; by one view at a time it is
    the `largest`."""
    certain = [1.0 for one in checks if one.name == "certainty" and one.people]
    return max([largest, *certain, *(one.worst for one in checks if one.worst is not None)])


def most_people(checks: Iterable[Check]) -> int:
    """Of the broken checks, the most people that one is about."""
    return max((check.people or 0 for check in checks if check.state == "broken"), default=0)


def by_chance(checks: Iterable[Check]) -> bool:
    """Whether all that is broken is what a handful of people break, and groups drawn anew may
    keep."""
    broken = [check for check in checks if check.state == "broken"]
    return bool(broken) and all(
        check.name in DRAWN and (check.people or 0) <= HANDFUL for check in broken
    )


def seeds(first: int) -> list[int]:
    """By which groups are drawn, one after the other, as long as chance alone breaks a check."""
    return [first + turn * APART for turn in range(TURNS)]


def attacked(checks: Iterable[Check], attack: PublicAttack | None) -> tuple[Check, ...]:
    """The list once attackers have tried; too few tries tell nothing."""
    tried = () if attack is None else attack.by_column
    state: State = "broken" if any(one.beaten_by for one in tried) else "kept"
    if not tried or (state == "kept" and any(one.withstood is None for one in tried)):
        return tuple(checks)
    return tuple(replace(one, state=state) if one.name == "attack" else one for one in checks)


Found = tuple[State, int | None]
"""A state, and how many people it is about."""
NOT_ASKED: Found = ("not asked", None)


def state_of(above: int, open_: int, robust: bool | None) -> Found:
    """The state by how many people are above their limit, and how many are not decided."""
    if robust is False:
        return "broken", above
    return ("kept", 0) if robust else ("undecided", open_)


def _one_view(found: Judged) -> Found:
    singly = [one for one in found.adversaries if one.name != WHOLE]
    if not singly:
        return NOT_ASKED
    open_ = bool(found.undecided or found.contradictory)
    open_ = open_ or any(one.robust is None for one in singly)
    robust = robustness(breach=found.problematic > 0, undecided=open_)
    return state_of(found.problematic, found.undecided, robust)


def _all_views(found: Judged) -> Found:
    whole = [one for one in found.adversaries if one.name == WHOLE]
    if not whole:
        return NOT_ASKED
    (one,) = whole
    if one.robust:
        return "kept", one.excepted or 0
    return state_of(one.problematic + (one.missing or 0), one.undecided, one.robust)


def _certainty(found: Judged) -> Found:
    if found.counter is None:
        return NOT_ASKED
    told = found.counter.certain_in_worst_view if found.certain is None else found.certain
    if found.together is not None:
        told = max(told, found.together.told_certain or 0)
    return state_of(told, 0, told == 0)


def _counting(found: Judged) -> Found:
    one = found.counter
    if one is None:
        return NOT_ASKED
    return ("kept", one.excepted or 0) if one.kept else ("broken", one.carriers_in_worst_view)


def _suppression(found: Judged) -> Found:
    one = found.absence
    return NOT_ASKED if one is None else state_of(one.carriers, 0, one.kept)


def _unit(found: Judged) -> Found:
    one = found.unit
    return NOT_ASKED if one is None else state_of(one.above, one.undecided, one.kept)


def _lookup(found: Judged) -> Found:
    if found.lookup is None:
        return NOT_ASKED
    few = found.lookup.fewer_than.people
    return state_of(few, 0, few == 0) if found.lookup.asked else ("not asked", few)


def _readable(found: Judged) -> Found | None:
    """Nothing is promised of values outside events."""
    return None if found.readable is None else ("not asked", found.readable)


def _releases(found: Judged) -> Found:
    one = found.together
    if one is None:
        return NOT_ASKED
    return ("kept", one.told) if one.kept else state_of(one.above, one.undecided, one.kept)


def _left_out(reader: str) -> Callable[[Judged], Found | None]:
    """One of the usual readers of one view: named where others judged and this one did not."""

    def judge(found: Judged) -> Found | None:
        return None if reader in found.names or {*found.names} == {WHOLE} else NOT_ASKED

    return judge


CHECKS: dict[str, Callable[[Judged], Found | None]] = {
    "one-view": _one_view,
    "all-views": _all_views,
    "certainty": _certainty,
    "counting": _counting,
    "suppression": _suppression,
    "joint": _left_out("joint"),
    "binary": _left_out("binary"),
    "person": _unit,
    "lookup": _lookup,
    "readable": _readable,
    "releases": _releases,
    "attack": lambda _: NOT_ASKED,
}
"""By their names, in the order in which they are shown."""
