"""Texts that a reader takes for one: what is left of them without all that hardly shows."""

from __future__ import annotations

import unicodedata

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
