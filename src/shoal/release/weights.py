"""Weights: how much of its group's cases each person counts as, as a release publishes it.

A method may know more of a group than that its people share its cases (people with a protected
event): who was drawn to hide them with which chance, and who was added later. Counts of strata are
right by these weights, and not by equal shares. They are published with few digits, rounded down,
so that no rounding puts anybody above a limit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.arrays import Floats, Ints
from shoal.data.spec import Spec
from shoal.data.table import Table, digits, factorize
from shoal.data.table.frames import free_name
from shoal.engines import GID, Runs
from shoal.errors import InputError, InternalError
from shoal.groups import Grouping
from shoal.groups.grouping import WEIGHT

DIGITS = 6
"""Weights are published with so many significant digits."""
ROUNDING = 10.0 ** (1 - DIGITS)
"""By at most such a part a weight is rounded down, and with it the sum of a group's."""
TOLERANCE = 1e-9
"""A weight is above a limit if it is so by more than this part of it."""


def weight_column(spec: Spec) -> str:
    """What the column of weights is called: as no column of the table is."""
    return free_name(WEIGHT, [GID, "count", *spec.qi, *spec.sensitive_columns])


def as_published(table: Table, grouping: Grouping) -> Grouping:
    """The same groups with weights as they are published. Those of several sensitive columns have
    none: what counts as a case differs from column to column."""
    weight = grouping.weight
    if weight is None or table.several is not None or np.isnan(weight).all():
        return replace(grouping, weight=None)
    told = ~np.isnan(weight)
    people = np.bincount(grouping.group, grouping.rows * told, len(grouping.copies))
    total = np.bincount(grouping.group, grouping.rows * np.nan_to_num(weight), len(people))
    cases, some = grouping.cases(table), people > 0
    if (
        (people != grouping.sizes)[some].any()
        or (cases == 0)[some].any()
        or (np.abs(total - cases) > TOLERANCE * cases)[some].any()
        or not ((weight >= 0) & (weight <= 1 + TOLERANCE))[told].all()
    ):
        raise InternalError("weights of a group do not add up to its cases")
    return replace(grouping, weight=rounded_down(weight))


def rounded_down(weight: Floats) -> Floats:
    """Weights with few digits, and none above what it was but for the last bit."""
    with np.errstate(divide="ignore"):
        scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(weight)))
    with np.errstate(invalid="ignore"):
        shown = np.floor(weight * scale * (1 + 1e-12)) / scale
    return np.where(weight > 0, shown, weight)


def line_weights(qi: Runs, column: str) -> Floats:
    """The weight on each line of a QI table, not a number where it has none; or an InputError."""
    held = qi.lines.get_column(column, default=None)
    if held is not None and held.dtype.is_float() and held.is_between(0, 1).all():
        return np.asarray(held.to_numpy(), np.float64)
    raise InputError(
        "release-weights",
        "The weights of the release cannot be read.",
        "`shoal verify` says what is wrong with a release.",
    )


class Alike(NamedTuple):
    """People who are published alike, in the order of group, signature and weight."""

    group: Ints
    signature: Ints
    people: Ints
    """How many they are in each copy of the group."""
    weight: list[pl.Series]
    """A column of their weights, if anybody has one."""

    @classmethod
    def of(cls, table: Table, grouping: Grouping, *, shown: bool) -> Alike:
        """Of a grouping; without signatures unless these are `shown`."""
        signature = grouping.signature if shown else np.zeros_like(grouping.signature)
        columns, sizes = [grouping.group, signature], [len(grouping.copies), len(table.signatures)]
        known = np.empty(0)
        if grouping.weight is not None:
            known, place = np.unique(grouping.weight, return_inverse=True)
            columns, sizes = [*columns, place.astype(np.int32)], [*sizes, len(known)]
        line, keys = factorize(columns, sizes)
        parts = digits(keys, sizes).astype(np.int64)
        people = np.bincount(line, grouping.rows, len(keys)).astype(np.int64)
        told = []
        if grouping.weight is not None:
            name = weight_column(table.spec)
            told = [pl.Series(name, known[parts[:, 2]], nan_to_null=True)]
        return cls(parts[:, 0], parts[:, 1], people, told)


def published_weights(qi: Runs, spec: Spec) -> tuple[Floats | None, Ints]:
    """The weights on the lines of a QI table, if it has any, and the places of these in order."""
    name = weight_column(spec)
    if name not in qi.lines.columns:
        return None, np.zeros(qi.lines.height, np.int64)
    weight = line_weights(qi, name)
    return weight, np.unique(weight, return_inverse=True)[1]
