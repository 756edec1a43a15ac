"""Totals: how many people with a value of an attribute carry an event. Published, because known.

The promise is against somebody who knows the exact distribution of the protected values for every
value of an attribute that at least min_support people share. What that adversary is taken to know
costs nothing when it is told to everybody, and it mends what a recipient lacks most: groups say who
is in them, not which kind of people tends to carry (docs/decisions/0010-totals.md).

Told is no more than that, and less: no total by which somebody would be known above 1/r. Per
attribute the people of all values without a total could be counted too, so the same holds of them;
and two attributes that say nearly the same are not both told so finely that the few between them
could be counted.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from shoal.knowledge import Knowledge, count_values
from shoal.table import Table

Ints = NDArray[np.int64]
SCHEMA = {"attribute": pl.String, "value": pl.String, "event": pl.String, "count": pl.Int64}


def no_totals() -> pl.DataFrame:
    """The table of a release that tells none."""
    return pl.DataFrame(schema=SCHEMA)


def event_totals(table: Table, knowledge: Knowledge) -> pl.DataFrame:
    """attribute, value, event, count: for the attributes that the adversary knows by themselves."""
    if not knowledge.of_the_table:
        return no_totals()
    known = {view.attributes for view in knowledge.views}
    places = [place for place, name in enumerate(table.spec.qi) if (name,) in known]
    told = told_values(table, places)
    lines = [
        (table.qi[place].name, table.qi[place].labels[code], event.label, int(carriers))
        for place, values in zip(places, told, strict=True)
        for code, counts in zip(values, _counted(table, place)[1][values], strict=True)
        for event, carriers in zip(table.events, counts, strict=True)
    ]
    return pl.DataFrame(lines, schema=SCHEMA, orient="row")


def told_values(table: Table, places: list[int]) -> list[list[int]]:
    """For each of these QIs the codes whose totals are told."""
    told = [_supported(table, place) for place in places]
    changed = True
    while changed:
        changed = False
        for one, other in permutations(range(len(places)), 2):
            loose = _between(table, (places[one], told[one]), (places[other], told[other]))
            for place, values in zip((one, other), loose, strict=True):
                if values:
                    told[place] = _with_rest(table, places[place], told[place] - values)
                    changed = True
    return [sorted(values) for values in told]


def _supported(table: Table, place: int) -> set[int]:
    people, carriers = _counted(table, place)
    fine = _tellable(table, people, carriers)
    return _with_rest(table, place, set(np.flatnonzero(fine).tolist()))


def _with_rest(table: Table, place: int, told: set[int]) -> set[int]:
    """The values told, without the rarest where a total of all others must not be told."""
    people, carriers = _counted(table, place)
    left = sorted(told, key=lambda code: -people[code])
    while left:
        rest = np.ones(len(people), bool)
        rest[left] = False
        others, carrying = people[rest].sum(), carriers[rest].sum(axis=0)
        if not others or _tellable(table, others[None], carrying[None])[0]:
            break
        left.pop()
    return set(left)


def _counted(table: Table, place: int) -> tuple[Ints, Ints]:
    """People by value of a QI, and carriers by value and event."""
    held = count_values(table, table.signatures[:, place], len(table.qi[place]))
    of_event = table.value_event[:, None] == np.arange(len(table.events))
    return held.sum(axis=1).astype(np.int64), (held @ of_event).astype(np.int64)


def _tellable(table: Table, people: Ints, carriers: Ints) -> NDArray[np.bool_]:
    """Whether enough people share a total, and it says of none of them more than 1/r."""
    within = (carriers * table.event_r <= people[:, None]).all(axis=1)
    return np.asarray((people >= table.spec.min_support) & within)


def _between(
    table: Table, one: tuple[int, set[int]], other: tuple[int, set[int]]
) -> tuple[set[int], set[int]]:
    """Values of two attributes whose totals, those of the one less those of the other, could count
    too few people: to be told no more.

    Such a difference counts the people of some blocks of the one who are in none of some blocks of
    the other, all of which lie wholly within them. Two blocks that at least min_support people
    share are on the same side of it, or it counts these people; so whole *parts*, which hang
    together by such pairs, are inside or outside. Say that p is inside, q outside. A part with
    blocks of the other attribute is inside only together with every part that it meets, and
    everybody of these who is in q is counted. If there is no such part inside, all of p are.
    """
    first, second = _blocks(table, *one), _blocks(table, *other)
    height, width, enough = int(first.max()) + 1, int(second.max()) + 1, table.spec.min_support
    people = np.zeros((height, width), np.int64)
    np.add.at(people, (first, second), table.signature_rows)
    left, right = np.nonzero(people >= enough)
    graph = sparse.coo_array(
        (np.ones(len(left)), (left, height + right)), shape=(height + width, height + width)
    )
    parts, part = connected_components(graph, directed=False)
    shared: Ints = np.zeros((parts, parts), np.int64)
    np.add.at(shared, (part[:height, None], part[None, height:]), people)
    filled: NDArray[np.bool_] = shared.sum(axis=0) > 0
    with_all = (shared > 0).T.astype(np.int64) @ shared
    others = np.where(filled[:, None] & ~np.eye(parts, dtype=bool), with_all, table.rows)
    alone = np.minimum(shared.sum(axis=1)[:, None], others.min(axis=0)[None, :])
    counted = np.where(filled[:, None], with_all, alone)
    inside, outside = np.nonzero((shared > 0) & ~np.eye(parts, dtype=bool) & (counted < enough))
    if not len(inside):
        return set(), set()
    largest = int(np.argmax(np.diagonal(shared)))
    small = {*inside[inside != largest], *outside[inside == largest]}
    for drop in (small, {*inside, *outside}, {*part}):
        loose = (
            {code for block, code in enumerate(sorted(one[1])) if part[block] in drop},
            {code for block, code in enumerate(sorted(other[1])) if part[height + block] in drop},
        )
        if any(loose):
            return loose
    return set(), set()


def _blocks(table: Table, place: int, told: set[int]) -> Ints:
    """The number of each signature's block: the values told in order, and the rest after them."""
    number = np.full(len(table.qi[place]), len(told), np.int64)
    number[sorted(told)] = np.arange(len(told))
    return number[table.signatures[:, place]]
