"""How groups are numbered and lines are ordered: by what they show, and by nothing else.

Groups stand in the order of a hash of their content, and the lines of a group in the order of their
values. Whoever has a release can reckon both again, and see that no order tells who carries what.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.arrays import Floats, Ints, Whole, Words
from shoal.groups.ragged import Ragged

if TYPE_CHECKING:
    from shoal.release.release import Release


def as_enum(texts: pl.Series) -> pl.Series:
    """Texts as an Enum, which takes a byte or two per line instead of sixteen."""
    if texts.dtype != pl.String:
        return texts
    return texts.cast(pl.Enum(texts.drop_nulls().unique(maintain_order=True)))


def mix(numbers: Words) -> Words:
    """A 64-bit finalizer: similar numbers end up far apart."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def hashed_values(parts: Iterable[Whole], group: Whole, rows: Whole, groups: int) -> Words:
    """A hash of the values of each group. `parts` are the places of the lines' texts among all that
    are published, from 1 on: of whole values, or of each column that is published apart."""
    total = np.zeros(groups, np.uint64)
    with np.errstate(over="ignore"):
        for number, of_line in enumerate(parts):
            held = mix(of_line.astype(np.uint64) + np.uint64(number + 1 << 40))
            np.add.at(total, group, rows.astype(np.uint64) * held)
    return total


def hashed_people(
    total: Words, group: Whole, signature: Whole, rows: Whole, weight: Floats | None = None
) -> Words:
    """Hashes with the people of each group added; `signature` is the place of a line's attributes
    among all that are published, from 1 on, and `weight` what each of them counts as, if it is
    told."""
    total = total.copy()
    with np.errstate(over="ignore"):
        shown = mix(signature.astype(np.uint64) + np.uint64(1))
        if weight is not None:
            shown = np.where(np.isnan(weight), shown, mix(shown ^ weight.view(np.uint64)))
        np.add.at(total, group, rows.astype(np.uint64) * shown)
    return total


def hashed_ranges(total: Words, labels: Iterable[pl.Series]) -> Words:
    """Hashes with the ranges of each group added, attribute by attribute."""
    with np.errstate(over="ignore"):
        for of_group in labels:
            total = mix(total + places(of_group).astype(np.uint64))
    return total


def misplaced(release: Release) -> str:
    """What in a release is not in the order that its content gives it, or an empty text."""
    from shoal.release.forms import form_named
    from shoal.release.utility.published import same_groups

    runs = release.sensitive_runs
    for table in (runs, release.qi_runs):
        if not np.array_equal(table.first, Ragged.of_lengths(table.copies).start[:-1] + 1):
            return "groups are not numbered from 1 on"
    columns = [runs.lines[name] for name in release.spec.sensitive_columns]
    parts = [places(column.cast(pl.String)) for column in columns]
    if not _increases([runs.group, *parts], strictly=True) or (runs.times > 1).any():
        return "values of a group are not in the order of their texts"
    qi, runs = same_groups(release)
    columns = [runs.lines[name] for name in release.spec.sensitive_columns]
    parts = [places(column.cast(pl.String)) for column in columns]
    if not release.spec.publish_apart and len(columns) > 1:
        joined = runs.lines.select(
            pl.concat_str([pl.col(one.name).cast(pl.String) for one in columns], separator=" | ")
        ).to_series()
        parts = [places(joined)]
    count = runs.lines["count"].to_numpy()
    held = hashed_values(parts, runs.group, count, len(runs.copies))
    form = form_named(release.form)
    order, total = form.published(held, qi, release.spec)
    if not _increases(order):
        return "people of a group are not in the order of their attributes"
    numbers = mix(total)
    if (numbers[1:] < numbers[:-1]).any():
        return "groups are not numbered by what they publish"
    return ""


def places(texts: pl.Series) -> Ints:
    """The place of each text among those that are there, from 1 on."""
    return texts.rank("dense").to_numpy().astype(np.int64)


def _increases(keys: Sequence[Whole], *, strictly: bool = False) -> bool:
    """Whether lines are in the order of their keys, the first first."""
    equal = np.ones(max(0, len(keys[0]) - 1), bool)
    for key in keys:
        if (equal & (key[1:] < key[:-1])).any():
            return False
        equal &= key[1:] == key[:-1]
    return not (strictly and equal.any())
