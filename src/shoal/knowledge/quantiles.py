"""Bands of a QI's numbers or dates with about as many people each, where few share a value.

Of a QI with thousands of values no single one has `min_support` rows, so that no view would know
anything of it; but whoever has statistics has them by bands. Where a tenth of the people or more
are in no class of the QI by itself, its quantile bands are an attribute of views, as `income/q16`.
Text has no bands: such a QI is refused, unless the spec says that its rare values are unknown.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import IntArray
from shoal.data.spec import MISSING
from shoal.data.table import Table
from shoal.data.table.bands import bands_of
from shoal.errors import InputError
from shoal.wording import visible

MOST_BANDS = 16
"""What a smooth dependence tells more than so many bands is little."""
LARGE = 4
"""Bands have so many times min_support people, where there are enough, so that their parts by other
attributes are classes too."""
RARE_SHARE = 0.1
"""From which share of the people in no class of a QI on its bands are known."""
MOST_TEXTS = 100
"""Text with more values, and nearly nobody in a class, is refused."""


def quantile_name(attribute: str, bands: int) -> str:
    """The adversary's name of a QI in quantile bands, e.g. `income/q16`."""
    return f"{attribute}/q{bands}"


def known_quantiles(table: Table, place: int, known: NDArray[np.bool_]) -> int:
    """In how many quantile bands a QI is known; 0 if nearly all signatures are `known` by classes
    of its exact values, or of bands that the spec names, or if there are too few people. An
    InputError for text of which nearly nobody is known."""
    column, support = table.qi[place], table.min_support
    if column.name in table.spec.rare_unknown:
        return 0
    rare = float(table.signature_rows[~known].sum()) / table.rows
    if not column.ordered:
        if rare > 1 - RARE_SHARE and len(column) > MOST_TEXTS:
            _refuse(table, place)
        return 0
    there = column.values.is_not_null().to_numpy()[table.signatures[:, place]]
    people = int(table.signature_rows[there].sum())
    if rare < RARE_SHARE or people < 2 * support:
        return 0
    most = min(MOST_BANDS, max(2, people // (LARGE * support)))
    return 1 << (most.bit_length() - 1)


def quantile_codes(table: Table, place: int, bands: int) -> tuple[IntArray, tuple[str, ...]]:
    """The band of each signature, and the bands in words. Each has at least `min_support` people,
    where there are so many: smaller ones are joined with the next above, the last with the one
    below."""
    column = table.qi[place]
    band = bands_of(table, place, bands)
    people = np.bincount(band[table.signatures[:, place]], table.signature_rows, bands + 1)
    joined, number, held = np.zeros(bands + 1, np.int32), 1, 0.0
    for one in range(1, bands + 1):
        if held >= table.min_support:
            number, held = number + 1, 0.0
        joined[one] = number
        held += people[one]
    if held < table.min_support and number > 1:
        joined[joined == number] = number - 1
    codes = joined[band]
    there = np.flatnonzero(codes > 0)
    first = there[np.unique(codes[there], return_index=True)[1]]
    last = [*(first[1:] - 1), there[-1]] if len(there) else []
    words = (_words(column.labels[a], column.labels[b]) for a, b in zip(first, last, strict=True))
    return codes[table.signatures[:, place]], (MISSING, *words)


def _words(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def named_quantiles(table: Table, name: str) -> tuple[int, int] | None:
    """The QI and the number of bands that a name such as `income/q16` stands for."""
    found = re.fullmatch(r"(.*)/q([1-9]\d{0,3})", name, re.DOTALL)
    if found is None or found[1] not in table.spec.qi:
        return None
    place = table.spec.qi.index(found[1])
    return (place, int(found[2])) if table.qi[place].ordered else None


def _refuse(table: Table, place: int) -> None:
    column, support = table.qi[place], table.min_support
    name = visible(column.name)
    raise InputError(
        "qi-rare",
        f'"{name}" holds text with {len(column):,} values, and nearly nobody shares theirs with '
        f"{support:,} people (min_support): the adversary would be taken to know nothing by it.",
        f"Make it coarser (--recode {name}:hierarchy=FILE, or {name}:rare={support}), drop it, or "
        f"say that nobody has figures by it (--rare-unknown {name}).",
    )
