"""Who can be looked up: how many people share each published combination of QI values; and who can
be read, because a release shows their value to whoever knows their group.

A group can be read if all its people are published with one value, in one of the sensitive columns
at least; "(other)" is no value. Some of its people are readable *by attributes* as well: if every
group with somebody of their attributes is published with that same value, whoever knows no more
than the attributes reads it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.arrays import IntArray, Ints, Whole
from shoal.data.sources import read_table
from shoal.data.storage import redact
from shoal.data.table import Table, code_column, factorize
from shoal.data.table.frames import places_in
from shoal.data.table.k_anonymity import Cost
from shoal.data.table.recoding import recoded
from shoal.data.table.survey import UNITS
from shoal.errors import InputError, unknown
from shoal.groups.grouping import Grouping
from shoal.plain import UNSAID, typed
from shoal.wording import REFERENCE, WEIGHTS, visible

# Sample against population: who is alone in a release, and how many of them are so in the
# population.
#
# A reference table of the population is counted. Without one, survey weights tell it on average:
# of two people who are alike in the file, each stands for its weight, so that Skinner and
# Carter's estimate of how many people of the population have the combinations of those who are
# alone is u + sum(w - 1), over u of these and all people in pairs. Of these a match finds the
# right one with the chance of one in the mean; that as many are alone is exact where sizes are
# geometric.
#
# C. J. Skinner, R. G. Carter: "Estimation of a measure of disclosure risk for survey microdata
# under unequal probability sampling", Survey Methodology 29 (2003).

COUNT = "count"
"""A column of a reference table, of whole numbers, that says for how many people a line stands."""
DIGITS = 2
"""Chances are told with so many significant digits: a table may have a single pair."""


@dataclass(frozen=True)
class Population:
    """Of the people of a release whose combination of QI values nobody else in it has."""

    by: str
    """What tells it: REFERENCE or WEIGHTS."""
    unique: int
    """How many are alone in the population, too."""
    match: float
    """The chance that somebody of the population who matches one of them is that person."""

    @classmethod
    def of(cls, table: Table, published: Ints) -> Population | None:
        """Of so many published people of each signature; None where nobody is alone, or nothing
        tells of the population."""
        alone = published == 1
        number = int(alone.sum())
        if not number:
            return None
        if table.spec.population is not None:
            people = np.maximum(reference_counts(table), published)[alone]
            return cls(REFERENCE, int((people == 1).sum()), _short(number / people.sum()))
        if table.weights is None:
            return None
        weight = np.bincount(table.member_cells.signature, table.weights) / UNITS
        pairs = np.maximum(2.0 * weight / table.signature_rows - 2.0, 0.0)[published == 2]
        match = number / (number + float(pairs.sum()))
        return cls(WEIGHTS, round(number * match), _short(match))


def _short(chance: float) -> float:
    return float(f"{chance:.{DIGITS}g}")


def reference_counts(table: Table) -> Ints:
    """How many people of the reference table have each signature of a table."""
    spec = table.spec
    assert spec.population is not None
    frame, name = read_table(spec.population), f'"{redact(spec.population)}"'
    for column in spec.qi:
        if column not in frame.columns:
            problem = f'The reference table {name} has no QI "{visible(column)}"'
            raise unknown("population-column", problem, column, frame.columns)
    recode = [one for one in spec.recode if one[0] in spec.qi]
    for column, recipe in recode:
        if recipe.quantiles or recipe.rare:
            raise InputError(
                "population-recode",
                f'"{visible(column)}" is recoded by how common its values are in the table, which '
                f"is not what they are in {name}.",
                "Recode it by bands, cuts or a hierarchy, or leave population out.",
            )
    people = _people(frame, spec.qi, name)
    frame = recoded(frame, spec.with_(recode=recode), people)
    codes = {}
    for place, one in enumerate(table.qi):
        found, code = code_column(frame[one.name])
        known = np.array([one.code_of(label) for label in found.labels], np.int32)
        codes[str(place)] = known[code]
    signatures = pl.DataFrame(table.signatures.astype(np.int32), schema=list(codes))
    line = places_in(signatures, pl.DataFrame(codes))
    here = line.is_not_null().to_numpy()
    places = line.drop_nulls().to_numpy()
    return np.bincount(places, people[here], len(signatures)).astype(np.int64)


def _people(frame: pl.DataFrame, qi: tuple[str, ...], name: str) -> Ints:
    """For how many people each line of a reference table stands."""
    if COUNT not in frame.columns or COUNT in qi:
        return np.ones(frame.height, np.int64)
    column = frame[COUNT]
    if not column.dtype.is_integer() or column.null_count() or (column < 0).any():
        raise InputError(
            "population-column",
            f'The column "{COUNT}" of the reference table {name} holds something else than whole '
            "numbers.",
            "Count the people of each combination into it, or leave it out: each line is one.",
        )
    return column.cast(pl.Int64).to_numpy()


USUAL_K = 5
"""Fewer people than these are few, unless a spec says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Few:
    """How many people show a combination of attributes that fewer than k show."""

    k: int
    people: int


@dataclass(frozen=True, kw_only=True)
class KCost:
    """What it cost that few people can be looked up."""

    k: int
    lost: dict[str, float]
    """The share of the information of each QI."""
    blanked: int
    """People who are published without attributes."""


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """Who can be looked up by published attributes, as certificates say it."""

    asked: bool
    """Whether there should be nobody whose combination fewer than k share."""
    unique: int
    """People with a combination that nobody else has."""
    fewer_than: Few
    cost: KCost | None = field(default=None, metadata=UNSAID)
    population: Population | None = field(default=None, metadata=UNSAID)

    @classmethod
    def of(
        cls,
        sharing: Ints,
        people: Ints,
        k: int | None,
        cost: Cost | None = None,
        population: Population | None = None,
    ) -> Lookup:
        """From lines of so many people, of whom so many show the same."""
        few = USUAL_K if k is None else k
        return cls(
            asked=k is not None,
            unique=int(people[sharing == 1].sum()),
            fewer_than=Few(k=few, people=int(people[sharing < few].sum())),
            cost=k_cost(cost),
            population=population,
        )


def k_cost(cost: Cost | None) -> KCost | None:
    """What of it anybody may know."""
    return None if cost is None else typed(KCost, cost)


def lookup_of(
    table: Table, grouping: Grouping, *, k: int | None = None, exact: bool = True
) -> Lookup:
    """Who of a grouping can be looked up; k is the spec's, or else another. Of ranges it is not
    said how many people of the population they hold."""
    asked, found = table.spec.k if k is None else k, None
    if exact and not grouping.recodings:
        people = np.bincount(grouping.signature, grouping.people, len(table.signatures))
        found = Population.of(table, people.astype(np.int64))
    shown = sharing(table, grouping, exact=exact)
    return Lookup.of(shown, grouping.people, asked, table.cost, found)


def sharing(
    table: Table, grouping: Grouping, attributes: Sequence[int] | None = None, *, exact: bool = True
) -> Ints:
    """For each line, how many published people show the same in some QIs, or in all. Without
    `exact` and where ranges are not known each group shows something of its own."""
    places = range(len(table.qi)) if attributes is None else attributes
    shown = [_shown(table, grouping, place, exact=exact) for place in places]
    line, keys = factorize([codes for codes, _ in shown], [size for _, size in shown])
    return np.bincount(line, grouping.people, len(keys)).astype(np.int64)[line]


def _shown(table: Table, grouping: Grouping, place: int, *, exact: bool) -> tuple[IntArray, int]:
    """What lines show of one QI, in codes, and how many there may be."""
    if grouping.recodings:
        recoding = grouping.recodings[place]
        return recoding.node[grouping.group], len(recoding.labels)
    if exact:
        return table.signatures[grouping.signature, place], len(table.qi[place])
    return grouping.group, len(grouping.copies)


class Readable(NamedTuple):
    """How many people are readable."""

    people: int
    by_attributes: int
    """Those of them who are so to whoever knows their attributes alone."""


def readable_people(table: Table, grouping: Grouping) -> Readable:
    """Who is readable in a grouping."""
    value = grouping.published_values(table)
    group, signature = grouping.group, grouping.signature
    return count_readable(table, group, signature, grouping.people, group, value)


def count_readable(
    table: Table, group: Whole, signature: Whole, people: Ints, value_group: Whole, value: Whole
) -> Readable:
    """From lines of people (of a group and signature, in all its copies) and lines of values that
    groups publish."""
    told, attributes = np.zeros((2, len(group)), bool)
    count = int(group.max(initial=-1)) + 1
    for code, other in _columns(table, value):
        held = _common(code, value_group, count)
        read = np.where(held < other, held, np.int32(-1))[group]
        told |= read >= 0
        attributes |= _common(read, signature, len(table.signatures))[signature] >= 0
    return Readable(int(people[told].sum()), int(people[attributes].sum()))


def _columns(table: Table, value: Whole) -> list[tuple[Whole, int]]:
    """What each sensitive column shows on each line, and which code stands for "(other)"."""
    if table.several is None:
        return [(value, len(table.values))]
    codes = table.several.codes[value]
    return [(codes[:, c], len(one.values)) for c, one in enumerate(table.several.columns)]


def _common(code: Whole, owner: Whole, count: int) -> IntArray:
    """The code that all lines of an owner share, or -1."""
    low, high = np.full(count, np.iinfo(np.int32).max, np.int32), np.full(count, -1, np.int32)
    np.minimum.at(low, owner, code.astype(np.int32))
    np.maximum.at(high, owner, code.astype(np.int32))
    return np.where(low == high, low, np.int32(-1)).astype(np.int32)
