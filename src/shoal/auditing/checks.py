"""The verdict on a release: a list of checks, and one rule.

Everything that is promised is a check; what was not asked for, or is not covered, stands in the
same list, in grey. To add one, write a function that reads its state from public figures, list it
in `_CHECKS`, and say it in `check_words.py`: terminal, JSON, certificate, README, report, evidence
and workbench show the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from shoal.wording import WHOLE

State = Literal["kept", "broken", "undecided", "not asked"]
Figures = Mapping[str, Any]
Nearest = Mapping[str, tuple[float, float]]
"""By a check's name: the largest figure, as a share of its limit, and that limit."""
BEFORE_CHECKS = ("one-view", "all-views", "suppression")
"""What verdicts were made of before certificates listed checks."""


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


def checks_of(found: Figures, nearest: Nearest | None = None) -> tuple[Check, ...]:
    """The checks, by the figures of an audit that anybody may know: those of a certificate."""
    made = []
    for name, judge in _CHECKS.items():
        if (one := judge(found)) is not None:
            worst, limit = (nearest or {}).get(name, (None, None))
            made.append(Check(name, *one, worst, limit))
    return tuple(made)


def checks_in(found: Figures) -> tuple[Check, ...]:
    """The checks that plain data lists; of earlier versions, those that follow from its figures."""
    if "checks" in found:
        return tuple(Check(**one) for one in found["checks"])
    return checks_of(found)


def plain(checks: Iterable[Check]) -> list[dict[str, Any]]:
    """The list as plain data."""
    return [asdict(check) for check in checks]


def most_people(checks: Iterable[Check]) -> int:
    """Of the broken checks, the most people that one is about."""
    return max((check.people or 0 for check in checks if check.state == "broken"), default=0)


def attacked(checks: Iterable[Check], attack: Figures | None) -> tuple[Check, ...]:
    """The list once attackers have tried; too few tries tell nothing."""
    if attack is None:
        return tuple(checks)
    tried = [attack, *attack.get("others", [])]
    state: State = "kept"
    if any(one["beaten_by"] for one in tried):
        state = "broken"
    elif any(one.get("withstood", True) is None for one in tried):
        return tuple(checks)
    return tuple(replace(one, state=state) if one.name == "attack" else one for one in checks)


_Found = tuple[State, int | None]
_NOT_ASKED: _Found = ("not asked", None)


def _state(above: int, open_: int, robust: bool | None) -> _Found:
    if robust is False:
        return "broken", above
    return ("kept", 0) if robust else ("undecided", open_)


def _judges(found: Figures) -> dict[str, Figures]:
    """Who judged, with their figures; earlier versions kept no more than names."""
    return {
        one if isinstance(one, str) else one["name"]: {} if isinstance(one, str) else one
        for one in found["adversaries"]
    }


def _one_view(found: Figures) -> _Found:
    singly = [one for name, one in _judges(found).items() if name != WHOLE]
    if not singly:
        return _NOT_ASKED
    unsure = found["undecided"] or found.get("contradictory")
    open_ = bool(unsure) or any(one.get("robust", True) is None for one in singly)
    robust = robustness(breach=found["problematic"] > 0, undecided=open_)
    return _state(found["problematic"], found["undecided"], robust)


def _all_views(found: Figures) -> _Found:
    judges = _judges(found)
    if WHOLE not in judges:
        return _NOT_ASKED
    one = judges[WHOLE] or found.get("all_views") or {"robust": found["robust"]}
    above = one.get("problematic", 0) + one.get("missing", 0)
    return _state(above, one.get("undecided", 0), one["robust"])


def _certainty(found: Figures) -> _Found:
    if found["counter"] is None:
        return _NOT_ASKED
    certain = found.get("certain", found["counter"]["certain_in_worst_view"])
    return _state(certain, 0, certain == 0)


def _counting(found: Figures) -> _Found:
    counter = found["counter"]
    if counter is None:
        return _NOT_ASKED
    return _state(counter["carriers_in_worst_view"], 0, counter["kept"])


def _suppression(found: Figures) -> _Found:
    absence = found["absence"]
    return _NOT_ASKED if absence is None else _state(absence["carriers"], 0, absence["kept"])


def _unit(found: Figures) -> _Found:
    unit = found.get("unit")
    return _NOT_ASKED if unit is None else _state(unit["above"], unit["undecided"], unit["kept"])


def _lookup(found: Figures) -> _Found:
    lookup = found.get("lookup")
    if lookup is None:
        return _NOT_ASKED
    few = lookup["fewer_than"]["people"]
    return _state(few, 0, few == 0) if lookup["asked"] else ("not asked", few)


def _readable(found: Figures) -> _Found | None:
    """Nothing is promised of values outside events."""
    return ("not asked", found["readable"]) if "readable" in found else None


def _left_out(reader: str) -> Callable[[Figures], _Found | None]:
    """One of the usual readers of one view: named where others judged and this one did not."""

    def judge(found: Figures) -> _Found | None:
        judges = {*_judges(found)}
        return None if reader in judges or judges == {WHOLE} else _NOT_ASKED

    return judge


_CHECKS: dict[str, Callable[[Figures], _Found | None]] = {
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
    "releases": lambda _: _NOT_ASKED,
    "attack": lambda _: _NOT_ASKED,
}
"""By their names, in the order in which they are shown."""
