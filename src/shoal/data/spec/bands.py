"""Bands of numbers, cut in exact decimal arithmetic.

A number that stands on the edge between two bands must fall to the same side wherever it is cut, or
the adversary who cuts it right knows more than was judged. Floating point cannot promise that
(49 times the rounded 1/49 is below 1), so numbers count as the decimals that they are written as.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

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
