"""A release as one weighted table, for models and for anything that takes weights; and as plausible
tables.

Nobody's value is known, but a group says how likely each is. So everybody is listed once with every
value that they may have, and a weight: how many people of these attributes are expected to have it.
People who are published alike share a line, which changes no weighted figure. All weights together
are the people published.

In a plausible table each person has one of their group's values, drawn by its chance. In each group
the people with a protected event are drawn first, by systematic sampling in a random order: as many
as the group has cases, and everybody with exactly the chance that the release gives them (Madow,
1949). Events are then dealt among these at random, all other values among the others. Estimates
from several such tables are combined by Rubin's rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.arrays import Bools, Floats, Ints
from shoal.data.spec import MISSING, OTHER
from shoal.data.table.frames import free_name
from shoal.engines import GID
from shoal.errors import InputError, missing_extra
from shoal.release.utility.published import COUNT, Published, person_chances, same_groups

if TYPE_CHECKING:
    from shoal.release import Release


WEIGHT = "weight"


def weighted(release: Release) -> pl.DataFrame:
    """What is published of people, a value that they may have, and how many are expected to."""
    refuse_apart(release)
    values = [name for name in release.sensitive_runs.columns if name not in (GID, COUNT)]
    taken, weight = [*release.spec.qi, *values, COUNT], weight_column(release)
    alike, size = (free_name(name, [*taken, weight]) for name in ("alike", "size"))
    if release.weight is not None and release.form == "bucketized":
        return _listed(release.coded, values[0], weight)
    seen = list(release.spec.qi)
    qi, sensitive = same_groups(release)
    sizes = pl.DataFrame({GID: qi.first, size: qi.sizes})
    people = qi.distinct.with_columns(pl.Series(alike, qi.weight), pl.col(GID).cast(pl.Int64))
    held = sensitive.distinct.with_columns(pl.col(GID).cast(pl.Int64))
    return (
        people.group_by(GID, *seen)
        .agg(pl.col(alike).sum())
        .join(sizes, on=GID)
        .join(held, on=GID)
        .with_columns((pl.col(alike) * pl.col(COUNT) / pl.col(size)).alias(weight))
        .group_by(*seen, *values)
        .agg(pl.col(weight).sum())
        .sort(*seen, *values)
    )


def refuse_apart(release: Release) -> None:
    """An InputError if sensitive columns were permuted apart."""
    if release.spec.publish_apart:
        raise InputError(
            "table-apart",
            "The sensitive columns were permuted apart: which of their values go together is not "
            "in the release.",
            f'Take one of them at a time: release.alone("{release.spec.sensitive_columns[0]}").',
        )


def weight_column(release: Release) -> str:
    """What weights are called: as no column of the release is, in whatever case."""
    names = [*release.spec.qi, *release.sensitive_runs.columns]
    return free_name(WEIGHT, [name.lower() for name in names])


def as_pandas(frame: pl.DataFrame) -> Any:
    """A frame for pandas; whole numbers stay whole also where some are missing."""
    try:
        import pandas
    except ImportError:
        raise missing_extra("A pandas frame", "pandas") from None
    found = frame.to_pandas()
    for column in frame:
        if column.dtype.is_integer() and column.null_count():
            found[column.name] = pandas.array(column.to_list(), dtype=str(column.dtype))
    return found


def _listed(published: Published, sensitive: str, weight: str) -> pl.DataFrame:
    cells = published.cells
    unit, value = cells.owner, cells.code
    return pl.DataFrame(
        [
            *(
                column.values.gather(published.coded[unit, place]).alias(column.name)
                for place, column in enumerate(published.columns)
            ),
            pl.Series(sensitive, published.values).gather(value),
            pl.Series(weight, cells.count),
        ]
    ).filter(pl.col(weight) > 0)


def draws(release: Release, random: np.random.Generator) -> Iterator[pl.DataFrame]:
    """Everybody's attributes, in the order of the QI table, each with one value of their group;
    again and again."""
    refuse_apart(release)
    qi, sensitive = same_groups(release)
    chance, in_event = person_chances(release, qi, sensitive)
    names = [*qi.columns, *sensitive.columns]
    chances, event = (free_name(name, names) for name in ("chance", "event"))
    people = replace(qi, lines=qi.lines.with_columns(pl.Series(chances, chance))).frame()
    held = replace(sensitive, lines=sensitive.lines.with_columns(pl.Series(event, in_event)))
    values = held.frame().select(pl.exclude(COUNT).repeat_by(COUNT).explode())
    values = values.sort(GID, pl.col(event).not_(), maintain_order=True).drop(GID, event)
    group, chance = people[GID].cast(pl.Int64).to_numpy(), people[chances].to_numpy()
    people = people.select(release.spec.qi)
    while True:
        cases = chosen(group, chance, random)
        person = np.lexsort((random.random(len(group)), ~cases, group))
        dealt = values[np.argsort(person)]
        yield people.hstack([_named(one, release, random) for one in dealt])


def _named(column: pl.Series, release: Release, random: np.random.Generator) -> pl.Series:
    """A value by name for each "(other)", as often as `count` takes it to be one."""
    texts = column.cast(pl.String)
    pooled = np.flatnonzero((texts == OTHER).fill_null(False).to_numpy())
    if not len(pooled):
        return column
    published = release.coded_alone[column.name]
    labels = tuple(label for label in published.values if label != OTHER)
    share = published.value_shares(labels)[published.values.index(OTHER)]
    if not share.sum():
        return column
    taken = random.choice(len(labels), len(pooled), p=share / share.sum())
    names = pl.Series([None if label == MISSING else label for label in labels], dtype=pl.String)
    return texts.scatter(pooled, names[taken])


def chosen(group: Ints, chance: Floats, random: np.random.Generator) -> Bools:
    """Systematic sampling in a random order within each group, whose people stand together."""
    order = np.lexsort((random.random(len(group)), group))
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1])[: len(group)])
    lengths = np.diff(np.append(first, len(group)))
    total = np.cumsum(chance[order])
    before = np.append(0.0, total)[first]
    upto = total - np.repeat(before - random.random(len(first)), lengths)
    found = np.zeros(len(group), bool)
    below = np.floor(upto - chance[order])
    found[order] = np.floor(upto) > below
    return found
