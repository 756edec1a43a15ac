"""What each check says: a title, and one sentence with its number first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from shoal.auditing.checks import Check, State
from shoal.wording import people, percent, some, visible

if TYPE_CHECKING:
    from shoal.auditing.counting import TellingClass
    from shoal.auditing.findings import Looked

Shown = Callable[[int], str]
"""How a number of people is written down."""
TITLES = {
    "one-view": "One view at a time",
    "all-views": "All views at once",
    "certainty": "Certain by counting",
    "counting": "Counting, per stratum",
    "suppression": "Left out",
    "joint": "Joint adversary",
    "binary": "Binary adversary",
    "person": "One row, one person",
    "lookup": "Looked up by attributes",
    "readable": "Exact values",
    "releases": "Other releases",
    "attack": "Attacks",
}
LABELS: dict[State, str] = {
    "kept": "kept",
    "broken": "BROKEN",
    "undecided": "NOT DECIDED",
    "not asked": "not asked",
}
TONES: dict[State, str] = {"kept": "yes", "broken": "no", "undecided": "open", "not asked": "none"}
"""The class of a colour, in every page: green, red, amber, grey."""
VERDICT_TONES = {True: TONES["kept"], False: TONES["broken"], None: TONES["undecided"]}

_PEOPLE = "{people} {are} "
_LINKED = f"{_PEOPLE}above their limit, by one group and one view at a time"
_LIKELY = f"{_PEOPLE}too likely by all public counts together"
_CERTAIN = f"{_PEOPLE}certain to have a protected value, as counts leave no other choice"
_CROWDED = (
    "{people} with a protected value, in the view that has most, {are} in strata with too few "
    "others in groups that hold it"
)
_MISSING = f"{_PEOPLE}linked above the limit by being left out"
_SHARED = "{people} {have} a combination of attributes that fewer people share"
_NOBODY = "Nobody judged who "
_WORDS: dict[str, dict[State, str]] = {
    "one-view": {
        "kept": _LINKED,
        "broken": _LINKED,
        "undecided": "{people} could not be decided by one group and one view at a time, or groups "
        "publish values that contradict what is known",
        "not asked": f"{_NOBODY}reads one group and one view at a time",
    },
    "all-views": {
        "kept": _LIKELY,
        "broken": _LIKELY,
        "undecided": "{people} could not be decided by all public counts together, which were not "
        "fitted closely enough",
        "not asked": f"{_NOBODY}uses the counts of all views at once (the all-views adversary)",
    },
    "certainty": {
        "kept": _CERTAIN,
        "broken": _CERTAIN,
        "not asked": f"{_NOBODY}counts strata group by group",
    },
    "counting": {
        "kept": _CROWDED,
        "broken": _CROWDED,
        "not asked": f"{_NOBODY}counts strata over all groups",
    },
    "suppression": {
        "kept": _MISSING,
        "broken": _MISSING,
        "not asked": f"{_NOBODY}looks for people who are left out",
    },
    "joint": {
        "not asked": f"{_NOBODY}weighs every published value (the joint adversary)",
    },
    "binary": {
        "not asked": f"{_NOBODY}knows only how common an event is (the binary adversary)",
    },
    "person": {
        "kept": f"{_PEOPLE}above their limit by all of their rows together",
        "broken": f"{_PEOPLE}above their limit by all of their rows together",
        "undecided": "{people} could not be decided by all of their rows together",
        "not asked": "Each row counts as a person; people with several rows were not looked for",
    },
    "lookup": {
        "kept": f"{_SHARED} than was asked for",
        "broken": f"{_SHARED} than was asked for",
        "not asked": f"{_SHARED} than five, or than was asked for (`--k`)",
    },
    "readable": {
        "not asked": f"{_PEOPLE}published with their exact value, which no event protects",
    },
    "releases": {"not asked": "Other releases of the same people are not covered"},
    "attack": {
        "kept": "Attackers tried to name people with a protected value, and did not beat the limit",
        "broken": "Attackers tried to name people with a protected value, and beat the limit",
        "not asked": "Attackers did not try to name people with a protected value, or too few "
        "times to tell (`shoal attack`)",
    },
}


def words(check: Check, shown: Shown = "{:,}".format) -> str:
    """The sentence of a check, without a full stop."""
    number = check.people or 0
    count = shown(number)
    one = count == "1"
    said = _WORDS[check.name][check.state].format(
        people=f"{count} {'person' if one else 'people'}",
        are="is" if one else "are",
        have="has" if one else "have",
    )
    return f"{said[0].upper()}{said[1:]}{_nearest(check)}"


def titled(checks: Iterable[Check], shown: Shown = "{:,}".format) -> list[tuple[Check, str, str]]:
    """Each check with its title and its sentence."""
    return [(check, TITLES[check.name], f"{words(check, shown)}.") for check in checks]


def in_short(checks: Iterable[Check]) -> str:
    """The list for a `repr`: titles by state, with how many people a check is about; what was not
    asked is left to others."""
    told: dict[State, list[str]] = {}
    for check in checks:
        about = f" ({people(check.people)})" if check.people else ""
        told.setdefault(check.state, []).append(TITLES[check.name].lower() + about)
    order: tuple[State, ...] = ("broken", "undecided", "kept")
    return "; ".join(f"{LABELS[one]}: {', '.join(told[one])}" for one in order if one in told)


def coloured(
    checks: Iterable[Check], shown: Shown = "{:,}".format
) -> list[tuple[str, str, str, str]]:
    """The list for a page: the class of a check's colour, the word for its state, its title and
    its sentence."""
    return [
        (TONES[check.state], LABELS[check.state], title, said.replace("`", ""))
        for check, title, said in titled(checks, shown)
    ]


def lines(checks: Iterable[Check]) -> list[str]:
    """The list for a terminal and plain text."""
    wide = max(map(len, LABELS.values()))
    return [
        f"{LABELS[check.state]:<{wide}}  {title}: {said}" for check, title, said in titled(checks)
    ]


def _nearest(check: Check) -> str:
    if check.worst is None or check.limit is None:
        return ""
    over = check.limit if check.worst > check.limit else None
    worst, limit = percent(check.worst, over=over), percent(check.limit)
    what = "farthest above" if over is not None and check.state == "broken" else "nearest to"
    return f"; {what} its limit is {worst}, where {limit} is allowed".replace("\u00a0", " ")


def lookup_words(found: Looked) -> str:
    """Who can be looked up by a combination of attributes, and what it cost that few can."""
    k, few = found.fewer_than.k, found.fewer_than.people
    if not few:
        told = f"At least {k:,} people share every published combination of attributes."
    else:
        told = (
            f"{people(few)} of the release {'has' if few == 1 else 'have'} a published combination "
            f"of attributes that fewer than {k:,} people share, {found.unique:,} of them one that "
            "nobody else has: whoever knows these attributes finds the record."
        )
        told += f" At least {k:,} were asked for." if found.asked else ""
    if found.cost is None:
        return told
    lost = [f"{visible(name)} {percent(one)}" for name, one in found.cost.lost.items() if one]
    blanked = found.cost.blanked
    return (
        f"{told} For that, recoding took of the information of "
        f"{', '.join(lost) if lost else 'the attributes nothing'}; "
        f"{people(blanked)} {'is' if blanked == 1 else 'are'} published without attributes."
    )


def stratum_words(one: TellingClass) -> str:
    """A stratum that counting or suppression tells of: for those who hold the table."""
    return (
        f"{some(one.carriers)} {'case' if one.carriers == 1 else 'cases'} of "
        f'"{visible(one.event)}" among {one.among:,} of {people(one.people)} '
        f"({visible(one.described)}) who come into question; {one.needed:,} are needed"
    )
