"""Words in column names that hint at a role: lists in words.toml."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from importlib.resources import files

_HINTS = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
"""Each list with what it means stands in the file."""
SENSITIVE_WORDS: tuple[str, ...] = tuple(_HINTS["sensitive"])
ILLNESS_WORDS = frozenset[str](_HINTS["illness"])
ILLNESS_ENDINGS: tuple[str, ...] = tuple(_HINTS["illness_endings"])
NOMINAL_WORDS = frozenset[str](_HINTS["nominal"])
QI_WORDS = frozenset[str](_HINTS["qi"])
NAMING_WORDS = frozenset[str](_HINTS["naming"])
NUMBERING_WORDS = frozenset[str](_HINTS["numbering"])
WEIGHING_WORDS = frozenset[str](_HINTS["weighing"])
SAMPLING_WORDS = frozenset[str](_HINTS["sampling"])
COUNTING_WORDS = frozenset[str](_HINTS["counting"])
CODE_WORDS = frozenset[str](_HINTS["code"])
MISSING_TEXTS = frozenset[str](_HINTS["missing"])
YES_NO: tuple[tuple[str, str], ...] = tuple((yes, no) for yes, no in _HINTS["yes_no"])


def words_of(name: str) -> set[str]:
    """The words of a column name without accents: `birthDate`, `birth-date` and `BIRTH_DATE` are
    the same, as are `âge` and `AGE`."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    letters = "".join(sign for sign in plain if not unicodedata.combining(sign))
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", letters)
    return {part.lower() for part in parts}


def illness_in(words: set[str]) -> str | None:
    """The word of some that says an illness."""
    for word in sorted(words):
        if word in ILLNESS_WORDS or word.endswith(ILLNESS_ENDINGS):
            return word
    return None
