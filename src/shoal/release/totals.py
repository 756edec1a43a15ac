"""Totals: how many people with a value of an attribute carry an event, told when asked for.

They mend what a recipient lacks most: groups say who is in them, not which kind of people tends to
carry. The adversary of the promise knows each of them already, one attribute at a time; all of them
together tell more, which the certificate states (docs/decisions/0010-totals.md).

Told is no more than that, and less: nothing of an attribute with a value by which somebody would be
known above 1/r. The people of all values without a total could be counted too, so the same is asked
of them; and two attributes that say nearly the same are not both told so finely that totals of the
one less totals of the other would be about a few people.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components, maximum_flow

from shoal.knowledge import Knowledge, count_values
from shoal.table import IntArray, Table

Ints = NDArray[np.int64]
SCHEMA = {"attribute": pl.String, "value": pl.String, "event": pl.String, "count": pl.Int64}


def no_totals() -> pl.DataFrame:
    """The table of a release that tells none."""
    return pl.DataFrame(schema=SCHEMA)


def event_totals(table: Table, knowledge: Knowledge) -> pl.DataFrame:
    """attribute, value, event, count: for the attributes that the adversary knows by themselves."""
    if not knowledge.of_the_table:
        return no_totals()
    known = {view.attributes for view in knowledge.class_views}
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
        for one, other in combinations(range(len(places)), 2):
            loose = _loose(table, (places[one], told[one]), (places[other], told[other]))
            for place, values in zip((one, other), loose, strict=True):
                if values:
                    told[place] = _with_rest(table, places[place], told[place] - values)
                    changed = True
    return [sorted(values) for values in told]


def _supported(table: Table, place: int) -> set[int]:
    """The values that enough people share; none if the people of one would be known above 1/r: if
    only that one were missing, it would be known which it is."""
    people, carriers = _counted(table, place)
    enough = people >= table.spec.min_support
    if (carriers[enough] * table.event_r > people[enough, None]).any():
        return set()
    return _with_rest(table, place, set(np.flatnonzero(enough).tolist()))


def _with_rest(table: Table, place: int, told: set[int]) -> set[int]:
    """The values told, without the rarest where all others together are too few; none if these
    would be known above 1/r."""
    people, carriers = _counted(table, place)
    left = sorted(told, key=lambda code: -people[code])
    rest = np.ones(len(people), bool)
    rest[left] = False
    while left and 0 < people[rest].sum() < table.spec.min_support:
        rest[left.pop()] = True
    above = (carriers[rest].sum(axis=0) * table.event_r > people[rest].sum()).any()
    return set() if above else set(left)


def _counted(table: Table, place: int) -> tuple[Ints, Ints]:
    """People by value of a QI, and carriers by value and event."""
    held = count_values(table, table.signatures[:, place], len(table.qi[place]))
    of_event = table.value_event[:, None] == np.arange(len(table.events))
    return held.sum(axis=1).astype(np.int64), (held @ of_event).astype(np.int64)


def _loose(
    table: Table, one: tuple[int, set[int]], other: tuple[int, set[int]]
) -> tuple[set[int], set[int]]:
    """Values of two attributes that nearly the same people have: to be told no more.

    Totals of some values of the one, less totals of some values of the other, count the people who
    are on one side only, for or against. These must be nobody, or enough people. Take the values
    (the untold ones as one) as nodes and the people who share two of them as edges between these:
    what is asked of every cut is asked of the flow between one node and each of the others.
    """
    first, second = _blocks(table, *one), _blocks(table, *other)
    height, width, enough = int(first.max()) + 1, int(second.max()) + 1, table.spec.min_support
    people = sparse.coo_array(
        (table.signature_rows.astype(np.int64), (first, height + second)),
        shape=(height + width, height + width),
    )
    node, shared = _joined(sparse.csr_array(people + people.T), enough)
    size = np.bincount(node[first], table.signature_rows, shared.shape[0])
    parts, part = connected_components(shared, directed=False)
    loose: set[int] = set()
    for number in range(parts):
        mine = np.flatnonzero(part == number)
        centre = mine[np.argmax(size[mine])]
        loose |= {
            int(one)
            for one in mine
            if one != centre and maximum_flow(shared, centre, one).flow_value < enough
        }
    found = (
        {code for block, code in enumerate(sorted(one[1])) if node[block] in loose},
        {code for block, code in enumerate(sorted(other[1])) if node[height + block] in loose},
    )
    only_untold = bool(loose) and not any(found)
    return (one[1], other[1]) if only_untold else found


def _joined(shared: sparse.csr_array, enough: int) -> tuple[IntArray, sparse.csr_array]:
    """Nodes that enough people share become one, again and again: no cut that matters is between
    them. The number that each node has then, and who shares what now."""
    node = np.arange(shared.shape[0], dtype=np.int32)
    while True:
        strong = sparse.csr_array(shared >= enough)
        count, part = connected_components(strong, directed=False)
        if count == shared.shape[0]:
            return node, shared.astype(np.int32)
        onto = sparse.csr_array((np.ones(len(part), np.int64), (np.arange(len(part)), part)))
        shared = sparse.csr_array(onto.T @ shared @ onto)
        shared.setdiag(0)
        shared.eliminate_zeros()
        node = part[node]


def _blocks(table: Table, place: int, told: set[int]) -> Ints:
    """The number of each signature's block: the values told in order, and the rest after them."""
    number = np.full(len(table.qi[place]), len(told), np.int64)
    number[sorted(told)] = np.arange(len(told))
    return number[table.signatures[:, place]]
