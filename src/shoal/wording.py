"""How shoal speaks: numbers and foreign text as people can read them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

EXIT_CODES = {True: 0, False: 1, None: 3}
"""What a command that judges leaves behind, by its verdict; 2 says that it could not even begin."""
LONGEST = 120
"""Cell values are cut after this many characters."""
_JOINERS = "\u200c\u200d"  # part of ordinary words and signs in some scripts
_GAP = "\u00a0"  # a number and its unit stay on one line


def verdict_words(robust: bool | None, what: str = "robust") -> str:
    """A verdict, as what the table is."""
    return {True: what, False: f"not {what}", None: f"not shown to be {what}"}[robust]


TRY = "`shoal find TABLE --spec S` tries what would work."
"""The remedy where none was tried."""


def written_words(robust: bool | None, where: str | None) -> str:
    """What became of a release that is not robust: `where` it was written, or None."""
    word = verdict_words(robust)
    if where is not None:
        return (
            f"{word.upper()}, and written all the same, as --write-anyway asks: do not take "
            f"{where} for a robust release. Its certificate says so too."
        )
    return (
        f"NOTHING WAS WRITTEN, because this release is {word}. `shoal plan` says what stands in "
        "the way of a robust one; --write-anyway writes this one all the same, with a certificate "
        f"that says that it is {word}."
    )


def limit_words(share: str, limit: str) -> str:
    """The most that a link may come to: a share, or under the honest limit what was known."""
    if limit == "prior":
        return f"{share} (or what was known of the person before, if that is more)"
    return share


def limit_named(limit: str) -> str:
    """Names the limit where it is not the paper's, to stand behind r."""
    return ", limit prior" if limit == "prior" else ""


def lower_words(before: float, after: float) -> str:
    """Why a link can be lower after publication than before, where it is; to stand behind it."""
    if after >= before:
        return ""
    return (
        " It is lower after than before because the group tells how many of its people carry the "
        "event, fewer than general knowledge alone leads to expect; what was known stays known."
    )


def exposed_words(shown: int, alike: int) -> str:
    """Over a list of the most exposed people, where `alike` are at least as exposed as its last."""
    if alike <= shown:
        return f"The {shown:,} most exposed people"
    return (
        f"{shown:,} of the {alike:,} most exposed people (who are all exposed at least as much as "
        "the last one shown)"
    )


def undecided_words(people: str) -> str:
    """Of whom neither safety nor a breach could be shown."""
    return f"{people} could not be decided"


def adversaries_words(names: Sequence[str]) -> str:
    """Who judged."""
    listed = [", ".join(names[:-1]), names[-1]] if len(names) > 1 else names
    return f"{' and '.join(listed)} {'adversary' if len(names) == 1 else 'adversaries'}"


WHOLE = "all-views"
"""The adversary who reads a release as a whole."""
ALL_VIEWS = "all views"
"""What stands where others name the view that they reason through."""
_LEFT_OUT = {
    "joint": "whoever weighs every published value (the joint adversary)",
    "binary": "whoever knows only how common an event is (the binary adversary)",
    "all-views": "whoever uses the counts of all views at once (the all-views adversary)",
}


def readers_of_one_view(names: Sequence[str]) -> list[str]:
    """Those whose links are the figures of a release; `all-views` only if nobody else judged."""
    return [name for name in names if name != WHOLE] or list(names)


def judges_words(names: Sequence[str], whole: Mapping[str, Any] | None = None) -> str:
    """Who judged, what whoever takes all counts together found if it is against the release, and
    which of the usual ones did not judge, as sentences."""
    told = [f"Judged by the {adversaries_words(names)}."]
    if found := whole_words(whole):
        told.append(f"{found[0].upper()}{found[1:]}.")
    told += [f"Not considered: {whom}." for name, whom in _LEFT_OUT.items() if name not in names]
    return " ".join(told)


def whole_words(
    whole: Mapping[str, Any] | None, shown: Callable[[int], str] = "{:,}".format
) -> str:
    """What the all-views adversary found against a release; empty if that is nothing."""
    if whole is None or whole["robust"]:
        return ""
    if whole["robust"] is None:
        return f"taken together, all counts could not be judged (the {WHOLE} adversary)"
    number = whole["problematic"] + whole.get("missing", 0)
    whom = "1 person" if number == 1 else f"{shown(number)} people"
    return f"taken together, all counts make {whom} too likely (the {WHOLE} adversary)"


def apart_words(columns: str) -> str:
    """What is published, and claimed, of several columns that are permuted apart."""
    return (
        f"Within a group each of {columns} is permuted by itself: values on one line belong to "
        "different people, and each column has to be read alone. Nothing is claimed against "
        "somebody who knows how often values of two columns go together."
    )


def open_words(count: int) -> str:
    """Who is published alone, with a value that everybody can read."""
    if not count:
        return "Nobody is published in a group of one that shows their value."
    whom = "1 person is" if count == 1 else f"{count:,} people are each"
    return f"{whom} published in a group of one, which shows their value openly."


def pooled_words(groups: int, hidden: int) -> str:
    """Whose values outside every event are published as one."""
    where = "1 group" if groups == 1 else f"{groups:,} groups"
    return (
        f"In {where} the values outside every protected event, of {people(hidden)}, are published "
        "as (other)."
    )


def weights_words(weighted: int) -> str:
    """What it is to publish weights."""
    most = "1/r, or what all counts together said beforehand"
    return (
        f"For counts by class {people(weighted)} in groups with an event have a weight: how much "
        f"of their group's cases they count as, at most {most}."
    )


_COUNTING = "Counting over all groups, class by class (a promise beside the verdict),"
_COUNTED = (
    "Counting over all groups, class by class, is a promise beside the verdict, and kept: of every "
    "class r times as many people as carry an event, or all of it, are in groups that hold it."
)


def counter_words(counter: Mapping[str, Any], carriers: int) -> str:
    """What counting class by class tells of the `carriers`, and the worst class: for those who hold
    the table."""
    if counter["kept"]:
        certain = counter.get("certain")
        return f"{_COUNTED} {_group_by_group(certain)}" if certain else _COUNTED
    worst = counter["worst"][0]
    return (
        f"{_COUNTING} links {counter['carriers']:,} of the {carriers:,} people with an event above "
        f"the limit, {counter['certain']:,} with certainty, in {_classes(counter['classes'])}. The "
        f"worst: {_carriers(worst)} among {people(worst['people'])} with "
        f"{visible(worst['described'])}; {worst['among']:,} of these in question, "
        f"{worst['needed']:,} needed."
    )


def _group_by_group(certain: int) -> str:
    return f"Taken group by group, the same counts make {people(certain)} certain all the same."


def public_counter_words(
    counter: Mapping[str, Any], shown: Callable[[int], str] = "{:,}".format
) -> str:
    """The same for everybody: what the distributions tell anyway. `shown` writes a number of people
    down."""
    if counter["kept"]:
        return counter_words(counter, 0)
    carriers, certain = counter["carriers_in_worst_view"], counter["certain_in_worst_view"]
    return (
        f"{_COUNTING} links people above the limit in {_classes(counter['classes'])}, with "
        f"certainty in {counter['certain_classes']:,}; in the worst view {shown(carriers)} "
        f"carriers, {shown(certain)} with certainty."
    )


def absence_words(absence: Mapping[str, Any], missing: int, limit: str) -> str:
    """What people tell who are not in the release, and the worst class: for those who hold the
    table."""
    if absence["kept"]:
        return _nothing_told(missing, limit)
    worst = absence["worst"][0]
    missed = "1 missing person" if worst["among"] == 1 else f"{worst['among']:,} missing people"
    missed += f" with {visible(worst['described'])}" if worst["view"] else ""
    return (
        f"Absence links {people(absence['carriers'])} with an event above the limit, "
        f"{absence['certain']:,} with certainty, in {_classes(absence['classes'])}: this alone "
        f"makes the release not robust. The worst: {_carriers(worst)} among {missed}."
    )


def public_absence_words(
    absence: Mapping[str, Any],
    missing: int,
    limit: str,
    shown: Callable[[int], str] = "{:,}".format,
) -> str:
    """The same for everybody."""
    if absence["kept"]:
        return _nothing_told(missing, limit)
    return (
        f"Absence links people with an event above the limit, {shown(absence['carriers'])} in all: "
        "among the missing of their class more carry it than the limit allows. This alone makes "
        "the release not robust."
    )


def _nothing_told(missing: int, limit: str) -> str:
    if not missing:
        return "Nobody is missing, so that absence tells nothing."
    share = "one in r, or the class's own share," if limit == "prior" else "one in r"
    return (
        f"Absence tells nothing above the limit: of the missing people of every class at most "
        f"{share} carry an event."
    )


def _carriers(one: Mapping[str, Any]) -> str:
    """The carriers of a class that is told of."""
    noun = "carrier" if one["carriers"] == 1 else "carriers"
    return f'{some(one["carriers"])} {noun} of "{visible(one["event"])}"'


def _classes(count: int) -> str:
    return "1 class" if count == 1 else f"{count:,} classes"


def some(count: float) -> str:
    """A number of people that need not be whole."""
    return f"{count:,}" if isinstance(count, int) else f"{count:,.1f}"


def percent(share: float, *, over: float | None = None, up: bool = False) -> str:
    """A probability as people read it: 22.4 %, 0.03 %, never 0 % for something above it.

    `over` is a limit that the share exceeds: digits are added until that shows. `up` rounds
    upwards, for bounds.
    """
    value = 100 * share
    if value == 0:
        return f"0{_GAP}%"
    if value < 0.001:
        return f"under 0.001{_GAP}%"
    digits = 1 if value >= 1 else 1 - math.floor(math.log10(value))
    while over is not None and digits < 9 and round(value, digits) <= round(100 * over, digits):
        digits += 1
    if up:
        value = math.ceil(value * 10**digits - 1e-9) / 10**digits
    text = f"{value:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + f"{_GAP}%"


def plain_percent(share: float) -> str:
    """The same for terminals and messages, with one decimal at least so that columns align."""
    if share == 0 or share >= 0.01:
        return f"{100 * share:.1f} %"
    return percent(share).replace(_GAP, " ")


def whole(text: str) -> str:
    """What a person wrote, line by line and uncut; what cannot be seen is spelt out."""
    return "\n".join("".join(map(_spelt, line)) for line in text.splitlines())


def visible(text: str) -> str:
    """Text whose invisible and direction-changing characters are spelt out, cut to a length."""
    front = text[:LONGEST]
    plain = front.isascii() and front.isprintable()
    shown = front if plain else "".join(map(_spelt, front))
    return shown if len(text) <= LONGEST else f"{shown}… ({len(text):,} characters)"


def isolated(text: str) -> str:
    """Foreign text inside a sentence: what it holds cannot change how the rest reads."""
    shown = visible(text)
    return shown if shown.isascii() else f"\u2068{shown}\u2069"


def quoted(text: str) -> str:
    return f"“{isolated(text)}”"


def joined(parts: Sequence[str]) -> str:
    """a, b and c."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def listed(names: Sequence[str]) -> str:
    """Foreign names, joined."""
    return joined([isolated(name) for name in names])


def through(attributes: Sequence[str]) -> str:
    """What a view is, in words."""
    return listed(attributes) if attributes else "the distribution of the whole table"


def people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def _spelt(sign: str) -> str:
    if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") and sign not in _JOINERS:
        return f"⟨U+{ord(sign):04X}⟩"
    return sign
