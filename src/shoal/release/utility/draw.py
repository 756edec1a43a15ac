"""Plausible tables: who of a group may have which of its values, drawn by their chances.

In each group the people with a protected event are drawn first, by systematic sampling in a random
order: as many as the group has cases, and everybody with exactly the chance that the release gives
them (Madow, 1949). Events are then dealt among these at random, all other values among the others.
Estimates from several such tables are combined by Rubin's rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.arrays import Bools, Floats, Ints
from shoal.data.spec import MISSING, OTHER
from shoal.data.table.frames import free_name
from shoal.engines import GID
from shoal.release.utility.published import COUNT, person_chances, same_groups
from shoal.release.utility.weighted import refuse_apart

if TYPE_CHECKING:
    from shoal.release import Release


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
