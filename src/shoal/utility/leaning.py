"""Shares by leanings: a recipient shares a group's carriers in proportion to people's weights.

Somebody's weight for an event is the product of the factors of all classes that they belong to
(release/leanings.py). In a group that holds k carriers of one event and no other event everybody's
share is k w / sum w; groups of several events are shared equally.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from shoal.errors import InputError
from shoal.release.kernels import carriers_held
from shoal.release.leanings import SCHEMA, Groups
from shoal.table import Column, IntArray, code_column
from shoal.utility.shared import PublishedPeople, Shared

if TYPE_CHECKING:
    from shoal.release import Release

Floats = NDArray[np.float64]
Weights = Mapping[str, Floats]
"""By the label of an event that is told of: everybody's weight."""


def people_weights(
    leanings: pl.DataFrame, columns: Sequence[Column], codes: Sequence[NDArray[np.integer]]
) -> Weights:
    """Everybody's weight for each event, by their codes in each column."""
    _check(leanings, [column.name for column in columns])
    weights: dict[str, Floats] = {}
    for event, *asked, factor in leanings.iter_rows():
        weight = weights.setdefault(event, np.ones(len(codes[0])))
        weight[members_of(asked, columns, codes)] *= factor
    return weights


def members_of(
    asked: Sequence[str | None], columns: Sequence[Column], codes: Sequence[NDArray[np.integer]]
) -> NDArray[np.bool_]:
    """Who belongs to a class that a line names, by attribute and value, and again."""
    place = {column.name: number for number, column in enumerate(columns)}
    members = np.ones(len(codes[0]), bool)
    for name, value in zip(asked[::2], asked[1::2], strict=True):
        if name is not None and value is not None:
            number = place[name]
            members &= codes[number] == columns[number].code_of(value)
    return members


def _check(leanings: pl.DataFrame, known: Collection[str]) -> None:
    """An InputError for a table that nobody can count with."""
    readable = dict(leanings.schema) == SCHEMA and bool(
        leanings.select(
            pl.col("attribute").is_in(known).all()
            & pl.col("attribute_2").drop_nulls().is_in(known).all()
            & (pl.col("factor").fill_null(0.0) > 0).all()
        ).item()
    )
    if not readable:
        raise InputError(
            "release-leanings",
            "What the release tells of leanings cannot be read.",
            'Count with shares="equal"; `shoal verify` says what is wrong with a release.',
        )


def shared_by_leanings(
    lines: PublishedPeople,
    held: sparse.csr_array,
    value_event: IntArray,
    events: Sequence[str],
    weights: Weights,
    units: int,
) -> Shared:
    """`lines`, `held` and `value_event` as in `Shared.equally`; `events` are their labels, and
    `weights` are those of the units."""
    equally = Shared.equally(units, lines, held, value_event)
    by_kind, pair = equally.by_kind, equally.pair
    first = by_kind.indptr[:-1]
    alone = np.diff(by_kind.indptr) == 2
    alone[alone] = by_kind.indices[first[alone]] == 0
    weight, people = np.ones(len(pair)), equally.people[pair].astype(np.float64)
    for number, event in enumerate(events):
        if event in weights:
            mine = equally.kind == number + 1
            weight[mine] = weights[event][equally.pair_unit[pair[mine]]]
    total = np.bincount(equally.entry, people * weight, by_kind.nnz)
    carriers = by_kind.data[equally.entry]
    by_weight = carriers * people * weight / total[equally.entry]
    of_event = alone[equally.owner] & (equally.kind > 0)
    shared = np.where(of_event, by_weight, equally.equal)
    # Whoever has more of the event has less of all else.
    taken = np.bincount(pair[of_event], shared[of_event], len(equally.people))
    rest = alone[equally.owner] & (equally.kind == 0)
    shared[rest] = np.maximum(people[rest] - taken[pair[rest]], 0.0)
    return equally.with_shares(shared)


def linked_above(release: Release) -> int:
    """How many people have a share of an event above 1/r, and above an equal one, by leanings."""
    from shoal.utility.published import event_numbers, same_groups

    qi, sensitive = same_groups(release)
    coded = [code_column(qi.lines[name]) for name in release.spec.qi]
    weights = people_weights(
        release.leanings, [column for column, _ in coded], [codes for _, codes in coded]
    )
    shown, value = code_column(sensitive.lines[release.spec.sensitive_columns[0]])
    kind, labels, strengths = event_numbers(release.spec, shown.labels)
    number = sensitive.lines["count"].to_numpy().astype(np.int64) * sensitive.times
    who, above = np.arange(qi.lines.height, dtype=np.int32), 0
    for event, weight in weights.items():
        one = list(labels).index(event)
        held = carriers_held(sensitive.start, value, number, kind.astype(np.int64), one)
        groups = Groups(qi.start, who, qi.times, qi.copies, *held)
        above += groups.above(weight, np.full(len(who), 1.0 / strengths[one]))
    return above
