"""What the values of a column look like: answers of yes and no, codes for missing ones, numbers
that are categories."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import polars as pl

from shoal.data.spec import Variable

# Words in column names that hint at a role: lists in words.toml.

_HINTS = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
"""Each list with what it means stands in the file."""
SENSITIVE_WORDS: tuple[str, ...] = tuple(_HINTS["sensitive"])
ILLNESS_WORDS = frozenset[str](_HINTS["illness"])
ILLNESS_ENDINGS: tuple[str, ...] = tuple(_HINTS["illness_endings"])
NOMINAL_WORDS = frozenset[str](_HINTS["nominal"])
QI_WORDS = frozenset[str](_HINTS["qi"])
NAMING_WORDS = frozenset[str](_HINTS["naming"])
NUMBERING_WORDS = frozenset[str](_HINTS["numbering"])
PEOPLE_WORDS = frozenset[str](_HINTS["people"])
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


MISSING_BELOW = frozenset({-1, -7, -8, -9, -77, -88, -99, -999, -9999})
MISSING_ABOVE = frozenset(
    {7, 8, 9, 77, 88, 99, 97, 98, 777, 888, 999, 997, 998, 7777, 8888, 9999, 9997, 9998}
)
GAP, GAP_SHARE = 2, 0.1
"""A code for missing values lies farther than this above all others, in units and in spans."""
MANY_CODES = 1000
"""More numbers than these are no codes of categories."""
FEW_CODES, SPARSE = 30, 3
"""Few whole numbers that leave out most of those between them are codes too."""


class YesNo(NamedTuple):
    """A column that says of everybody whether something is so."""

    yes: str
    no: str
    share: float
    """Of those who answered, how many say yes."""


def yes_no(column: pl.Series, missing: tuple[str, ...]) -> YesNo | None:
    """The answers of a column, if it has these and no others but codes for missing ones."""
    texts = _texts(column).drop_nulls()
    texts = texts.filter(~texts.is_in(list(missing)))
    counts = dict(texts.alias("text").value_counts().iter_rows())
    if len(counts) != 2:
        return None
    spelt = {text.strip().lower(): text for text in counts}
    for yes, no in YES_NO:
        if set(spelt) == {yes, no}:
            share = counts[spelt[yes]] / sum(counts.values())
            return YesNo(spelt[yes], spelt[no], share)
    return None


def missing_codes(column: pl.Series) -> tuple[str, ...]:
    """Values that seem to say that nothing is known: `?` and its like, -9, and 99 far above all
    other numbers."""
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        texts = column.cast(pl.String).unique().drop_nulls().sort().to_list()
        found = [text for text in texts if text.strip().lower() in MISSING_TEXTS]
        return tuple(found) if len(found) < len(texts) else ()
    numbers = _whole(column)
    others = [one for one in numbers if one not in MISSING_BELOW | MISSING_ABOVE]
    if len(others) < 2:
        return ()
    codes = [one for one in numbers if one in MISSING_BELOW and min(others) >= 0]
    top, gap = max(others), max(GAP, GAP_SHARE * (max(others) - min(others)))
    for one in numbers:
        if one in MISSING_ABOVE and one > top + gap:
            codes.append(one)
        elif one in MISSING_ABOVE:
            top = max(top, one)
    return tuple(map(str, codes))


def is_nominal(column: pl.Series, said: Variable) -> str | None:
    """Why whole numbers seem to be codes of categories, if they do."""
    numbers = [one for one in _whole(column) if str(one) not in said.missing]
    if said.measure != "unknown":
        return "its file says nominal" if numbers and said.measure == "nominal" else None
    if not 1 < len(numbers) <= MANY_CODES:
        return None
    if words := words_of(column.name) & NOMINAL_WORDS:
        return f'its name says "{min(words)}"'
    if 2 < len(numbers) <= FEW_CODES and numbers[-1] - numbers[0] >= SPARSE * len(numbers):
        steps = {after - before for before, after in pairwise(numbers)}
        return f"{len(numbers)} numbers with gaps" if len(steps) > 1 else None
    return None


def held_by_one(column: pl.Series) -> int:
    """How many values one row alone has."""
    return int(column.drop_nulls().is_unique().sum())


def _whole(column: pl.Series) -> list[int]:
    """The numbers of a column, sorted, if all are whole; none otherwise."""
    if not column.dtype.is_numeric() or column.dtype.is_decimal():
        return []
    values = column.unique().drop_nulls()
    if column.dtype.is_float():
        values = values.drop_nans()
        if not (values.is_finite() & (values == values.round())).all():
            return []
    return sorted(int(one) for one in values)


def _texts(column: pl.Series) -> pl.Series:
    texts = column.cast(pl.String)
    return texts.str.strip_suffix(".0") if column.dtype.is_float() else texts
