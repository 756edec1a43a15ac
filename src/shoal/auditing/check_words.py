"""What each check says: a title, and one sentence with its number first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.auditing.checks import Check, State
from shoal.wording import (
    REFERENCE,
    joined,
    lower_words,
    people,
    percent,
    readable_words,
    some,
    visible,
)

if TYPE_CHECKING:
    from shoal.auditing.counting import TellingClass
    from shoal.auditing.findings import PublicFindings, PublicWitness
    from shoal.groups.lookup import Lookup, Population

Shown = Callable[[int], str]
"""How a number of people is written down."""
Line = tuple[str, str, str, str]
"""A check in a page: the class of its colour, the word for its state, its title, its sentence."""
LABELS: dict[State, str] = {
    "kept": "kept",
    "broken": "BROKEN",
    "undecided": "NOT DECIDED",
    "not asked": "not asked",
}
TONES: dict[State, str] = {"kept": "yes", "broken": "no", "undecided": "open", "not asked": "none"}
"""The class of a colour, in every page: green, red, amber, grey."""
NOTHING: Mapping[str, str] = {}
_HOW = {"one-view": "by one view at a time", "all-views": "by all public statistics together"}
VERDICT_TONES = {True: TONES["kept"], False: TONES["broken"], None: TONES["undecided"]}


@dataclass(frozen=True)
class Said:
    """What a check says, with places for `{people}`, `{are}` and `{have}`."""

    title: str
    reason: str
    """Why it is checked."""
    remedy: str
    """What to do where it is not kept."""
    told: str = ""
    """Where it is kept, of nobody, or broken."""
    undecided: str = ""
    not_asked: str = ""
    kept: str = ""
    """Where it is kept, of people whom it excepts."""

    def sentence(self, state: State, number: int) -> str:
        excepted = self.kept if number else self.told
        of_state = {"undecided": self.undecided, "not asked": self.not_asked, "kept": excepted}
        return of_state.get(state, self.told)


_ABOVE = "{people} {are} linked above their limit "
_EARLIER = "as earlier releases leave them, with what is known today; this one adds nobody"
_UNJUDGED = "Not judged: an adversary who "
SAID = {
    "one-view": Said(
        "One view at a time",
        "A group hides its people only if the value is about equally likely for each of them, to "
        "somebody who knows exactly how common it is among similar people.",
        "Make the release with ART (`shoal anonymize`). If ART made it, `shoal plan` names what "
        "stands in the way, and `shoal find` tries settings: fewer attributes, coarser ones, a "
        "smaller r, or `--limit prior` where public statistics alone exceed 1/r.",
        f"{_ABOVE}by one group and one view at a time",
        "{people} could not be decided by one group and one view at a time, or groups publish "
        "values that contradict what is known",
        f"{_UNJUDGED}reads one group and one view at a time",
    ),
    "all-views": Said(
        "All views at once",
        "Statistics on several sets of attributes reveal more together than one by one.",
        "Run it again, which draws other groups. Else publish fewer attributes or coarser ones, or "
        "raise `--min-support` if nobody has statistics on groups as small as that.",
        f"{_ABOVE}by all public statistics together",
        "{people} could not be decided by all public statistics together, which were not fitted "
        "closely enough",
        f"{_UNJUDGED}uses the statistics of all views at once (the all-views adversary)",
        f"{_ABOVE}by all public statistics together, {_EARLIER}",
    ),
    "certainty": Said(
        "Certain by counting",
        "Somebody who knows how many similar people have a value can count in which groups they "
        "may be. If only as many people are there as have it, all of them have it.",
        "Run it again, which draws other groups; where it follows others, wait for more people. "
        "Else publish fewer attributes or coarser ones, ask for a smaller r, or raise "
        "`--min-support`, so that rare strata are not known.",
        "{people} {are} certain to have a protected value, by counting",
        not_asked=f"{_UNJUDGED}counts the cases of strata group by group",
    ),
    "counting": Said(
        "Counting, per stratum",
        "If 17 men aged 25 have an illness, at least r times as many of them have to be in groups "
        "where it occurs; else counting alone finds them.",
        "Run it again, which draws other groups. Else ask for a smaller r, or raise "
        "`--min-support`, so that rare strata are not known.",
        "{people} with a protected value {have} too few similar people in groups where it occurs",
        not_asked=f"{_UNJUDGED}counts the cases of strata over all groups",
        kept="{people} with a protected value {have} too few similar people in groups where it "
        f"occurs, {_EARLIER}",
    ),
    "suppression": Said(
        "Left out",
        "If mostly people with the value are left out, whoever misses somebody in the release "
        "learns something about them.",
        "Allow fewer people to be left out (`--max-suppression`), ask for a smaller r, or take "
        "`--limit prior`.",
        f"{_ABOVE}by being left out",
        not_asked=f"{_UNJUDGED}knows who is left out",
    ),
    "joint": Said(
        "Joint adversary",
        "This adversary weighs all values of a group, and may be surer than one who looks at the "
        "protected value alone.",
        "Judge with the usual adversaries: leave `--adversary` out, or add `--adversary joint`.",
        not_asked=f"{_UNJUDGED}weighs every published value (the joint adversary)",
    ),
    "binary": Said(
        "Binary adversary",
        "This adversary knows only how common the protected value is, and may be surer than one "
        "who weighs all values.",
        "Judge with the usual adversaries: leave `--adversary` out, or add `--adversary binary`.",
        not_asked=f"{_UNJUDGED}knows only how common an event is (the binary adversary)",
    ),
    "person": Said(
        "One row, one person",
        "Somebody with five rows is in five groups, which reveal more together than one by one.",
        "Publish one row of each person (`--rows-per-person event`), or a few (`--rows-per-person "
        "'first 3'`); `--person` names the column that says whose row it is.",
        f"{_ABOVE}by all of their rows together",
        "{people} could not be decided by all of their rows together",
        "Each row counts as one person; whether somebody has several rows was not checked",
    ),
    "lookup": Said(
        "Looked up by attributes",
        "Whoever knows somebody's attributes finds their record, if nobody else has the same.",
        "Ask for a number (`--k 5`), or make attributes coarser (`--recode`).",
        "{people} {have} a combination of attributes that fewer people share than was asked for",
        not_asked="{people} {have} a combination of attributes that fewer than 5 people share; "
        "no limit was set (`--k`)",
    ),
    "readable": Said(
        "Exact values",
        "A value that is not protected may be the only one in a group. Whoever finds a person of "
        "that group then knows their value.",
        "Protect more values (`--protect`), and leave `--smallest-group` out: then everybody is in "
        "a group.",
        not_asked="{people} {are} published with an exact value that is not protected",
    ),
    "releases": Said(
        "Other releases",
        "Two releases of the same people can reveal together what neither reveals alone.",
        "Follow the earlier release (`shoal anonymize --after`), and judge what is out already "
        "with `shoal audit --releases`.",
        f"{_ABOVE}by this release and all that it follows, judged together",
        "{people} could not be decided by this release and all that it follows, judged together",
        "Not judged: what this release reveals together with others of the same people",
        "{people} {are} above their limit, or not decided, because of the releases that this one "
        "follows and of what is known today; this one adds nobody",
    ),
    "attack": Said(
        "Attacks",
        "A proof is about the adversaries that it names. Attackers try everything else, and are "
        "scored by who really has the value.",
        "Run `shoal attack RELEASE --table TABLE`. If the limit is beaten, ask for a larger r, "
        "publish fewer attributes, or bring what the attacker knew as outside knowledge "
        "(`--knowledge`, `--model`).",
        "Attackers tried to name people with a protected value, and {beat} the limit",
        not_asked="Nobody has tried yet to name people with a protected value (`shoal attack`)",
    ),
}
"""By the checks' names."""


def label(check: Check, instead: Mapping[str, str] = NOTHING) -> str:
    """The word for its state: what was not asked for may have been counted, or tried, all the
    same."""
    if check.state != "not asked":
        return LABELS[check.state]
    if check.name == "attack" and check.name in instead:
        return "too few tries"
    return LABELS["not asked"] if check.people is None else "counted"


def words(check: Check, shown: Shown = "{:,}".format) -> str:
    """The sentence of a check, without a full stop."""
    number = check.people or 0
    count = shown(number)
    some, whom = count not in ("0", "1"), "links" if check.state == "undecided" else "nobody"
    said = (
        SAID[check.name]
        .sentence(check.state, number)
        .format(
            people=whom if not number else f"{count} {'people' if some else 'person'}",
            are="are" if some else "is",
            have="have" if some else "has",
            beat="beat" if check.state == "broken" else "did not beat",
        )
    )
    return f"{said[0].upper()}{said[1:]}{_nearest(check)}"


def titled(
    checks: Iterable[Check], shown: Shown = "{:,}".format, instead: Mapping[str, str] = NOTHING
) -> list[tuple[Check, str, str]]:
    """Each check with its title and its sentence, or what is said of it instead."""
    return [
        (check, SAID[check.name].title, instead.get(check.name) or f"{words(check, shown)}.")
        for check in checks
    ]


def in_full(
    found: PublicFindings, column: Any, *, fewest: int = 1, more: str = ""
) -> dict[str, str]:
    """What is said of values that can be read and of people who can be looked up by whoever has all
    figures; fewer than `fewest` people are only called few."""
    if found.readable is None or found.lookup is None:
        return {}
    few, known = found.readable, found.readable_by_attributes
    told = f"Fewer than {fewest} people are published with their exact value."
    if not 0 < few < fewest:
        told = readable_words(few, 0 if known < fewest else known, column)
    return {"readable": told + more, "lookup": lookup_words(found.lookup)}


def in_short(checks: Iterable[Check]) -> str:
    """The list for a `repr`: titles by state, with how many people a check is about; what was not
    asked is left to others."""
    told: dict[State, list[str]] = {}
    for check in checks:
        about = f" ({people(check.people)})" if check.people else ""
        told.setdefault(check.state, []).append(SAID[check.name].title.lower() + about)
    order: tuple[State, ...] = ("broken", "undecided", "kept")
    return "; ".join(f"{LABELS[one]}: {', '.join(told[one])}" for one in order if one in told)


def coloured(
    checks: Iterable[Check], shown: Shown = "{:,}".format, instead: Mapping[str, str] = NOTHING
) -> list[Line]:
    """The list for a page."""
    return [
        (TONES[check.state], label(check, instead), title, said.replace("`", ""))
        for check, title, said in titled(checks, shown, instead)
    ]


@dataclass(frozen=True)
class Parted:
    """The list for a page in two: what is read before a decision (what is broken or open, who can
    be read or looked up, what attackers did), and all others, to be opened."""

    first: list[Line]
    others: list[Line]
    by_state: list[tuple[str, str]]
    """Of the others: how many are kept, and the titles of the rest by the word for their state."""

    @classmethod
    def of(cls, checks: Iterable[Check], lines: Iterable[Line], *, tried: bool) -> Parted:
        first, others, named = [], [], dict[str, list[str]]()
        for check, line in zip(checks, lines, strict=True):
            _, state, title, _ = line
            told = {"attack": tried, "lookup": check.people, "readable": check.people}
            if check.state in ("broken", "undecided") or told.get(check.name):
                first.append(line)
                continue
            others.append(line)
            nobody = check.state == "not asked" and check.people is not None
            named.setdefault(state, []).append(f"{title} (nobody)" if nobody else title)
        kept = f"{len(named.pop(LABELS['kept'], []))}"
        by_state = [(state, "; ".join(titles)) for state, titles in named.items()]
        return cls(first, others, [(LABELS["kept"], kept), *by_state])


def lines(checks: Iterable[Check], instead: Mapping[str, str] = NOTHING) -> list[str]:
    """The list for a terminal and plain text."""
    wide = max(map(len, LABELS.values()))
    return [
        f"{label(check, instead):<{wide}}  {title}: {said}"
        for check, title, said in titled(checks, instead=instead)
    ]


def remedy(checks: Iterable[Check]) -> str:
    """What to do about the first check that is broken, or not decided where none is."""
    found, order = list(checks), ("broken", "undecided")
    open_ = [one.name for state in order for one in found if one.state == state]
    return SAID[open_[0]].remedy if open_ else ""


def largest_words(checks: Iterable[Check], event: str) -> str:
    """How near the checks come to their limits that are about chances of an event; empty where
    none says it."""
    told = [
        f"{percent(one.worst)} {how} ({percent(one.limit)} allowed)"
        for one in checks
        if (how := _HOW.get(one.name)) and one.worst is not None and one.limit is not None
    ]
    return f"The largest link to {event} is {' and '.join(told)}." if told else ""


def _nearest(check: Check) -> str:
    if check.worst is None or check.limit is None:
        return ""
    over = check.limit if check.worst > check.limit else None
    worst, limit = percent(check.worst, over=over), percent(check.limit)
    what = "farthest above" if over is not None and check.state == "broken" else "nearest to"
    return f"; the chance {what} its limit is {worst}, where {limit} is allowed".replace(
        "\u00a0", " "
    )


def lookup_words(found: Lookup) -> str:
    """Who can be looked up by a combination of attributes, and what it cost that few can."""
    k, few = found.fewer_than.k, found.fewer_than.people
    if not few:
        told = f"At least {k:,} people share every published combination of attributes."
    else:
        told = (
            f"{people(few)} {'has' if few == 1 else 'have'} a combination of attributes that fewer "
            f"than {k:,} people share, {found.unique:,} of them one that nobody else has: whoever "
            "knows these attributes finds the record."
        )
        told += f" At least {k:,} people were asked for." if found.asked else ""
        told += "" if found.population is None else f" {beyond_words(found.population)}"
    if found.cost is None:
        return told
    lost = [
        f"{percent(one)} of the detail of {visible(name)}"
        for name, one in found.cost.lost.items()
        if one
    ]
    blanked = found.cost.blanked
    coarser = f"recoding took {joined(lost)}" if lost else "nothing was made coarser"
    return (
        f"{told} For that, {people(blanked)} {'is' if blanked == 1 else 'are'} published without "
        f"attributes, and {coarser}."
    )


def beyond_words(found: Population) -> str:
    """How many who are alone in a release are so in the population."""
    estimated, alone = found.by != REFERENCE, f"{found.unique:,}"
    return (
        f"Of those who are alone with it, {'about ' if estimated else ''}{alone} "
        f"{'is' if found.unique == 1 else 'are'} alone in the population as well, by the "
        f"{found.by}; somebody there who matches one of them is that person with a chance of "
        f"{'about ' if estimated else ''}{percent(found.match)}."
    )


def known_words(
    count: int,
    limit: str,
    shown: Shown = "{:,}".format,
    together: int | None = None,
    most: float | None = None,
) -> str:
    """Whom public statistics link above the limit already: one at a time, and all `together`, with
    the chance that these give at `most`."""

    def whom(number: int) -> str:
        told = shown(number)
        return "nobody" if not number else "1 person" if told == "1" else f"{told} people"

    told = f"For {whom(count)} public statistics alone exceed {limit}, before anything is published"
    if not count:
        told = f"Public statistics alone exceed {limit} for nobody"
    told += ", taken one at a time"
    if together is None:
        return f"{told}; no release changes that." if count else f"{told}."
    if not count and not together:
        return f"{told}, nor do all of them together."
    told += f". All of them together do for {whom(together)}"
    if together and most is not None and shown(together) == f"{together:,}":
        told += f", with {percent(most)} at most"
    told += ". No release changes that"
    return f"{told}; up to four times the odds of that are allowed." if together else f"{told}."


def before_words(found: PublicWitness) -> str:
    """What was known of somebody before publication, to stand behind how they are linked."""
    share = percent(found.before)
    told = f"public statistics alone say {share}"
    if found.whole_table and found.view:
        told = f"on so few people there is no public figure but the whole table's share, {share}"
    return f"; {told}.{lower_words(found.before, found.posterior)}"


def stratum_words(one: TellingClass) -> str:
    """A stratum that counting or suppression reveals most of: for those who hold the table."""
    return (
        f"{some(one.carriers)} {'case' if one.carriers == 1 else 'cases'} of "
        f'"{visible(one.event)}" among {people(one.people)} ({visible(one.described)}): '
        f"{one.among:,} of them could have it, {one.needed:,} are needed"
    )
