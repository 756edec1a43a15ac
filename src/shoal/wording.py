"""How shoal speaks: numbers and foreign text as people can read them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

EXIT_CODES = {True: 0, False: 1, None: 3}
REFUSED = 2
"""What a command that judges leaves behind: by its verdict, or where there is nothing to judge."""
LONGEST = 120
"""Cell values are cut after this many characters."""
_JOINERS = "\u200c\u200d"  # part of ordinary words and signs in some scripts
_NO_CHARACTERS = "\ufffe\uffff"
_GAP = "\u00a0"  # a number and its unit stay on one line


def verdict_words(robust: bool | None, what: str = "robust") -> str:
    """A verdict, as what the table is."""
    return {True: what, False: f"not {what}", None: f"not shown to be {what}"}[robust]


TRY = "`shoal find TABLE --spec S` tries what would work."
"""The remedy where none was tried."""


def written_words(robust: bool | None, where: str | None, remedy: str) -> str:
    """What became of a release that is not robust: `where` it was written, or None."""
    word = verdict_words(robust)
    if where is not None:
        return (
            f"{word.upper()}, and written all the same, because of --write-anyway. Do not publish "
            f"{where}; its certificate says the same."
        )
    return (
        f"NOTHING WAS WRITTEN, because this release is {word}. {remedy} (--write-anyway writes it "
        f"all the same, with a certificate that says so.)"
    )


def limit_words(share: str, limit: str) -> str:
    """The most that a link may come to: a share, or, under `prior`, what was known before."""
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
        " It is lower after than before because the group has fewer cases than public statistics "
        "lead one to expect. What was known stays known."
    )


def exposed_words(shown: int, alike: int) -> str:
    """Over a list of the most exposed people, where `alike` are at least as exposed as its last."""
    if alike <= shown:
        return f"The {shown:,} most exposed people"
    return (
        f"{shown:,} of the {alike:,} most exposed people (all of them at least as exposed as the "
        "last one shown)"
    )


def adversaries_words(names: Sequence[str]) -> str:
    """Who judged."""
    listed = [", ".join(names[:-1]), names[-1]] if len(names) > 1 else names
    return f"{' and '.join(listed)} {'adversary' if len(names) == 1 else 'adversaries'}"


REFERENCE, WEIGHTS = "reference table", "survey weights"
"""What tells how many people of the population share some attributes."""
WEIGHTED_WORDS = (
    "They also know the same distributions by survey weights, as those of the population, and are "
    "judged group by group. Counts are of the people of the table, not of the population."
)
"""What is known where there are survey weights."""
WHOLE = "all-views"
"""The adversary who reads a release as a whole."""
ALL_VIEWS = "all views"
"""What stands where others name the view that they reason through."""


def readers_of_one_view(names: Sequence[str]) -> list[str]:
    """Those whose links are the figures of a release; `all-views` only if nobody else judged."""
    return [name for name in names if name != WHOLE] or list(names)


def apart_words(columns: str) -> str:
    """What is published, and claimed, of several columns that are permuted apart."""
    return (
        f"Within a group each of {columns} is permuted by itself: values on one line belong to "
        "different people, and each column has to be read alone. Nothing is claimed against "
        "somebody who knows how often values of two columns go together."
    )


def readable_words(count: int, by_attributes: int, column: Any = "value") -> str:
    """Who is published with a value that can be read, in a sensitive column or in one of some."""
    exact = f"published with their exact {visible(column) if isinstance(column, str) else 'value'}"
    if not count:
        return f"Nobody is {exact}."
    known = f"; for {by_attributes:,} of them it can be read by their attributes"
    whom = "1 person is" if count == 1 else f"{count:,} people are"
    return f"{whom} {exact}{known if by_attributes else ''}."


def lines_of(certificate: Mapping[str, Any]) -> str:
    """What the lines of a release are: people, or rows of which somebody may have several."""
    return "rows" if certificate.get("person", {}).get("rows_per_person") == "all" else "people"


def pooled_words(groups: int, hidden: int) -> str:
    """Whose values outside every event are published as one."""
    where = "1 group" if groups == 1 else f"{groups:,} groups"
    have = "has" if hidden == 1 else "have"
    return f"{people(hidden)} in {where} {have} an unprotected value that is published as (other)."


def weights_words(weighted: int) -> str:
    """What it is to publish weights."""
    have = "has" if weighted == 1 else "have"
    return (
        f"{people(weighted)} {have} a weight, for estimates: the part of their group's cases that "
        "each counts as, at most 1/r, or what all public statistics together say if that is more."
    )


SECRET_WORDS = "The seed is secret, and kept with the private records."


def seed_words(seed: int) -> str:
    """What it is to publish what was drawn by a seed that somebody gave."""
    return (
        f"The seed was given, {seed}, and the certificate states it: whoever knows it can repeat "
        "the draw. This is a release for tests; make the one to hand out without a seed."
    )


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
    """A share as terminals and messages write it."""
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
    unseen = unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
    if (unseen and sign not in _JOINERS) or sign in _NO_CHARACTERS:
        return f"⟨U+{ord(sign):04X}⟩"
    return sign
