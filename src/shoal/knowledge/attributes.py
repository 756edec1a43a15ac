"""The attributes that views are made of: QIs as they are, and in the bands that are also known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, IntArray, Ints
from shoal.data.spec import MISSING, band_name
from shoal.data.spec.checks import band_label
from shoal.data.table import Table, factorize
from shoal.data.table.bands import bands_of
from shoal.errors import InputError, InternalError
from shoal.wording import visible

# Bands of a QI's numbers or dates with about as many people each, where few share a value.
#
# Of a QI with thousands of values no single one has `min_support` rows, so that no view would
# know anything of it; but whoever has statistics has them by bands. Where a tenth of the people
# or more are in no class of the QI by itself, its quantile bands are an attribute of views, as
# `income/q16`. Text has no bands: such a QI is refused, unless the spec says that its rare values
# are unknown.

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


def known_quantiles(table: Table, place: int, known: Bools) -> int:
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


MAX_VIEWS = 5000


def attribute_codes(table: Table, name: str) -> tuple[IntArray, tuple[str, ...]]:
    """Codes of one attribute (a QI, or bands of one: `age/10`, `income/q16`) per signature, and its
    labels."""
    if (found := named_quantiles(table, name)) is not None:
        return quantile_codes(table, *found)
    position = attribute_qi(table, name)
    if position is None:
        raise InternalError(f"no attribute {name}")
    column = table.qi[position]
    if column.name == name:
        return table.signatures[:, position], column.labels
    (width,) = (width for band, width in table.spec.bands if band_name(band, width) == name)
    codes, labels = _banded(table, position, width)
    return codes[table.signatures[:, position]], labels


def signature_keys(
    table: Table, attributes: Sequence[str]
) -> tuple[IntArray, Ints | NDArray[np.object_]]:
    """The combination of some attributes that each signature has, and their sorted keys."""
    if not attributes:
        return np.zeros(len(table.signatures), np.int32), np.zeros(1, np.int64)
    coded = [attribute_codes(table, name) for name in attributes]
    return factorize([codes for codes, _ in coded], [len(labels) for _, labels in coded])


def attribute_qi(table: Table, name: str) -> int | None:
    """The place of the QI that an attribute is made of; None of a name that is no attribute."""
    if name in table.spec.qi:
        return table.spec.qi.index(name)
    for attribute, width in table.spec.bands:
        if band_name(attribute, width) == name:
            return table.spec.qi.index(attribute)
    found = named_quantiles(table, name)
    return None if found is None else found[0]


def known_attributes(table: Table, names: Sequence[str]) -> Sequence[str]:
    """The attributes that a view of these names is about: all QIs if one of them is none."""
    return table.spec.qi if any(attribute_qi(table, name) is None for name in names) else names


def _banded(table: Table, position: int, width: float) -> tuple[IntArray, tuple[str, ...]]:
    column = table.qi[position]
    if not column.numeric:
        raise InputError(
            "band", f'"{column.name}" holds text and cannot be banded.', "Band numeric QIs only."
        )
    shown = [
        column.labels[-1] if value is None else band_label(value, width)
        for value in column.values.to_list()
    ]
    labels = tuple(dict.fromkeys(shown))
    code = {label: position for position, label in enumerate(labels)}
    return np.array([code[label] for label in shown], dtype=np.int32), labels


def attribute_sets(table: Table) -> Sequence[tuple[str, ...]]:
    """The attributes of every view: the sets that the spec lists, or all sets of QIs, each QI in
    one of its forms."""
    spec = table.spec
    if spec.views is not None:
        for name in (name for view in spec.views for name in view):
            if attribute_qi(table, name) is None:
                raise InputError(
                    "view-attribute",
                    f'A view names "{name}", and that QI holds text, which has no quantiles.',
                    "Name quantiles of numbers and dates only.",
                )
        return spec.views
    largest = min(spec.max_attributes or len(spec.qi), len(spec.qi))
    forms = _forms(table)
    sets = _number_of_sets(forms, largest)
    if sets > MAX_VIEWS:
        raise InputError(
            "views-too-many",
            f"{len(spec.qi)} QIs make {sets:,} views, more than the {MAX_VIEWS:,} shoal judges.",
            "Limit the adversary with max_attributes, or list the views.",
        )
    return list(_variants(forms, largest))


def _forms(table: Table) -> dict[str, tuple[str, ...]]:
    """The names under which each QI is in views: itself, in bands that the spec names, and in
    quantile bands if few people share its values. None under which nobody is in a class: no view
    with it would know anything."""
    forms = {}
    for place, name in enumerate(table.spec.qi):
        own = (name, *(band_name(*band) for band in table.spec.bands if band[0] == name))
        known = {one: _in_class(table, one) for one in own}
        bands = known_quantiles(table, place, np.logical_or.reduce(list(known.values())))
        some = tuple(one for one in own if known[one].any())
        forms[name] = (*some, quantile_name(name, bands)) if bands else some
    return forms


def _in_class(table: Table, name: str) -> Bools:
    """Of each signature, whether enough people share this attribute with it."""
    codes, labels = attribute_codes(table, name)
    people = np.bincount(codes, table.signature_rows, len(labels))
    return np.asarray(people >= table.min_support)[codes]


def _number_of_sets(forms: Mapping[str, tuple[str, ...]], largest: int) -> int:
    """How many sets of 1 to `largest` QIs there are, each QI in one of its forms."""
    by_size = [1] + [0] * largest
    for names in forms.values():
        for size in range(largest, 0, -1):
            by_size[size] += len(names) * by_size[size - 1]
    return sum(by_size[1:])


def _variants(forms: Mapping[str, tuple[str, ...]], largest: int) -> Iterator[tuple[str, ...]]:
    for size in range(1, largest + 1):
        for names in combinations(forms, size):
            yield from product(*(forms[name] for name in names))
