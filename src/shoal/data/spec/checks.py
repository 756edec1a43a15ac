"""What callers give for fields of a spec, checked."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from shoal.errors import InputError


def checked_r(r: Any) -> float:
    """`r` as a number above 1, or an InputError."""
    try:
        number = float(r)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(r, bool) or not math.isfinite(number):
        raise InputError("r", f"r is {r!r}, which is no number.", "Give a number above 1.")
    if number <= 1:
        raise InputError(
            "r",
            f"r is {number:g}, and 1/r is the largest chance an adversary may have.",
            "Give a number above 1, such as 2, 5 or 10.",
        )
    return number


def checked_seed(seed: Any) -> int:
    """`seed` as a whole number of at least 0, or an InputError."""
    try:
        number = -1 if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise InputError("seed", f"seed is {seed!r}.", "Give a whole number of at least 0.")
    return number


def checked_whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least so much, or an InputError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        remedy = f"Give a whole number of at least {least}."
        raise InputError("whole-number", f"{name} is {value!r}.", remedy)
    return value


def checked_names(given: Any, what: str) -> tuple[str, ...]:
    if isinstance(given, str):
        given = [given]
    names = tuple(str(name) for name in listed(given, what))
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise InputError("name-twice", f'{what} names "{twice}" twice.', "Name it once.")
    return names


def listed(given: Any, what: str) -> Sequence[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError("spec-value", f"{what} is {given!r}, not a list.", "Give a list.")
    return list(given)


def number_or_text(text: str) -> int | float | str:
    """The number that a text is; otherwise the text as typed, for whoever takes it to refuse."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else text
    return text


# Bands of numbers, cut in exact decimal arithmetic.
#
# A number that stands on the edge between two bands must fall to the same side wherever it is
# cut, or the adversary who cuts it right knows more than was judged. Floating point cannot
# promise that (49 times the rounded 1/49 is below 1), so numbers count as the decimals that they
# are written as.

Number = int | float | Decimal | Fraction


def band_label(number: Number, width: float) -> str:
    """The band of width `width` that a number lies in: 39 in bands of 10 is `[30, 40)`."""
    if not math.isfinite(number):
        return str(number)
    step = Fraction(str(width))
    start = Fraction(str(number)) // step * step
    return f"[{_shown(start)}, {_shown(start + step)})"


def _shown(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else repr(float(number))
