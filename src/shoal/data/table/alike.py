"""Texts that are probably one value, written in several ways: what is left of them without all that
hardly shows, and warnings of them."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

from shoal.data.spec import InputWarning, Spec
from shoal.wording import visible

if TYPE_CHECKING:
    from shoal.data.table.table import Table

SHOWN_GROUPS = 3
SAME_BUT_FOR = "differ only by spaces or case, or look alike"

_CYRILLIC = dict(zip("авекмнорстухіјѕһԁԛԝ", "abekmhopctyxijshdqw", strict=True))
_GREEK = dict(zip("αβεζηικμνορτυχ", "abezhikmvoptyx", strict=True))
_SIGNS = dict.fromkeys("‐‑–—−", "-") | dict.fromkeys("‘’ʼ", "'") | {"ı": "i"}
_LATIN = str.maketrans(_CYRILLIC | _GREEK | _SIGNS)
"""Small letters that look like a Latin one, or whose capital does; dashes and quotes."""
_BLANK = frozenset("\u034f\u115f\u1160\u2800") | {chr(code) for code in range(0xFE00, 0xFE10)}
"""Characters without ink that Unicode counts among letters, marks and symbols."""


def skeleton(text: str) -> str:
    """A text without capitals, repeated spaces, wide and invisible forms, in Latin where another
    script's letters look so: texts with the same skeleton look alike."""
    if text.isascii():
        return " ".join(text.split()).casefold()
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    inked = "".join(sign for sign in plain if sign.isspace() or not _is_invisible(sign))
    return " ".join(unicodedata.normalize("NFKC", inked).translate(_LATIN).split())


def strange_signs(text: str) -> list[str]:
    """The characters of a text that look like others or do not show, by their Unicode names."""
    return [
        f"U+{ord(sign):04X} {unicodedata.name(sign, 'without a name')}"
        for sign in dict.fromkeys(text)
        if not sign.isascii() and (_is_invisible(sign) or skeleton(sign) != sign.casefold())
    ]


def _is_invisible(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cf", "Cc") or sign in _BLANK


def alike_values(values: Iterable[str]) -> list[tuple[str, ...]]:
    """The values, sorted, that differ only by spaces or case, or look alike: "HIV", "HIV ", "hiv",
    and "НIV" with a Cyrillic letter."""
    groups: dict[str, list[str]] = {}
    for value in sorted(set(values)):
        groups.setdefault(skeleton(value), []).append(value)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def warn_of_lookalikes(table: Table) -> None:
    """Warns of sensitive values as `warn_of_alike` does, and of all QI values that look alike:
    people who have them do not count as alike."""
    warn_of_alike(table.members.labels, table.spec)
    for column in table.qi:
        groups = [] if column.numeric else alike_values(column.labels)
        if groups:
            _warn(
                f'Values of the QI "{visible(column.name)}" {SAME_BUT_FOR}, but count as '
                f"different: {_shown(groups)}. Correct them, or those people are set apart."
            )


def warn_of_alike(values: Iterable[str], spec: Spec) -> None:
    """Warns of a value that is protected while one like it is not, or is an event of its own."""
    event = {value: one.label for one in spec.protect or () for value in one.values}
    apart = [
        group
        for group in alike_values(values)
        if len({value if spec.protect is None else event.get(value) for value in group}) > 1
    ]
    if apart:
        _warn(
            f'Values of "{spec.sensitive}" {SAME_BUT_FOR}, but are not protected as one: '
            f"{_shown(apart)}. Put them into one event, or correct them."
        )


def _warn(text: str) -> None:
    warnings.warn(text, InputWarning, stacklevel=3)


def _shown(groups: list[tuple[str, ...]]) -> str:
    shown = (" and ".join(_spelt(value) for value in group) for group in groups[:SHOWN_GROUPS])
    more = f", and {len(groups) - SHOWN_GROUPS} more" if len(groups) > SHOWN_GROUPS else ""
    return f"{', '.join(shown)}{more}"


def _spelt(value: str) -> str:
    """A value in quotes, and what in it only looks like something else."""
    strange = strange_signs(value)
    return f'"{visible(value)}"' + (f" ({', '.join(strange)})" if strange else "")
