"""The attributes that views are made of: QIs as they are, and in the bands that are also known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from shoal.errors import InputError, InternalError
from shoal.spec import Spec, band_name
from shoal.spec.bands import band_label
from shoal.table import IntArray, Table

MAX_VIEWS = 5000


def attribute_codes(table: Table, name: str) -> tuple[IntArray, tuple[str, ...]]:
    """Codes of one attribute (a QI, or a band such as `age/10`) per signature, and its labels."""
    for position, column in enumerate(table.qi):
        if column.name == name:
            return table.signatures[:, position], column.labels
    for attribute, width in table.spec.bands:
        if band_name(attribute, width) == name:
            position = table.spec.qi.index(attribute)
            codes, labels = _banded(table, position, width)
            return codes[table.signatures[:, position]], labels
    raise InternalError(f"no attribute {name}")


def _banded(table: Table, position: int, width: float) -> tuple[IntArray, tuple[str, ...]]:
    column = table.qi[position]
    if not column.numeric:
        raise InputError(
            "band-text",
            f'"{column.name}" holds text and cannot be banded.',
            "Band numeric QIs only.",
        )
    shown = [
        column.labels[-1] if value is None else band_label(value, width)
        for value in column.values.to_list()
    ]
    labels = tuple(dict.fromkeys(shown))
    code = {label: position for position, label in enumerate(labels)}
    return np.array([code[label] for label in shown], dtype=np.int32), labels


def attribute_sets(table: Table) -> Sequence[tuple[str, ...]]:
    spec = table.spec
    if spec.views is not None:
        return spec.views
    largest = min(spec.max_attributes or len(spec.qi), len(spec.qi))
    sets = _number_of_sets(spec, largest)
    if sets > MAX_VIEWS:
        raise InputError(
            "views-too-many",
            f"{len(spec.qi)} QIs make {sets:,} views, more than the {MAX_VIEWS:,} shoal judges.",
            "Limit the adversary with max_attributes, or list the views.",
        )
    return list(_variants(spec.qi, dict.fromkeys(spec.qi, ()), spec.bands, largest))


def _number_of_sets(spec: Spec, largest: int) -> int:
    """How many sets of 1 to `largest` QIs there are, each QI exact or in one of its bands."""
    by_size = [1] + [0] * largest
    for name in spec.qi:
        forms = 1 + sum(banded == name for banded, _ in spec.bands)
        for size in range(largest, 0, -1):
            by_size[size] += forms * by_size[size - 1]
    return sum(by_size[1:])


def _variants(
    qi: tuple[str, ...],
    banded: dict[str, tuple[str, ...]],
    bands: tuple[tuple[str, float], ...],
    largest: int,
) -> Iterator[tuple[str, ...]]:
    for name, width in bands:
        banded[name] += (band_name(name, width),)
    for size in range(1, largest + 1):
        for names in combinations(qi, size):
            chosen: list[tuple[str, ...]] = [()]
            for name in names:
                chosen = [(*view, form) for view in chosen for form in (name, *banded[name])]
            yield from chosen
