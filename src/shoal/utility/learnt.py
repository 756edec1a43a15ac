"""Learnt shares: who in a group is likelier to carry its event, told from the release alone.

Equal shares treat everybody in a group alike, so that a class whose people carry an event often
lends carriers to those whom it is grouped with. All groups together tell more: an event that is
published wherever somebody of a class is will mostly be theirs. So the odds of an event are taken
as a product of one factor for each QI value, and found by expectation and maximisation: share each
group's values by the odds, such that everybody has one value and every group as many of each kind
as it publishes; fit the odds to these shares; and again.

People who are published alone take no part. Whom a method leaves alone it decides by who carries:
odds that count them grow ever more wrong with each round where groups are filled unevenly
(docs/decisions/0008-learnt-shares.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from shoal.table import IntArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MAX_ODDS = 4_000_000
"""Nothing is learnt of more kinds of people times kinds of values than this: shares stay equal."""
ROUNDS = 6
RIDGE = 1 / 3
"""How strongly the logarithms of factors are held at 0: those of values that few people have stay
near it."""
STEPS = 30
"""Of the search for the factors, in each round; it goes on where it stopped the round before."""
BALANCED, SCALINGS = 1e-6, 1_000


def learnt_cells(
    units: IntArray,
    line_unit: IntArray,
    group: IntArray,
    held: sparse.csr_array,
    value_event: IntArray,
    expected: sparse.csr_array,
) -> sparse.csr_array:
    """units x values: the rows expected, from those that are `expected` with equal shares.

    `units` has the QI codes of each; `line_unit` and `group` tell of each published line; `held` is
    groups x values; `value_event` gives the event of each value, or -1.
    """
    kinds = int(value_event.max(initial=-1)) + 2
    values = np.arange(len(value_event))
    of_value = sparse.csr_array((np.ones(len(values)), (values, value_event + 1)))
    by_kind = sparse.csr_array(held @ of_value)
    size, mixed = np.bincount(group), (np.diff(by_kind.indptr) > 1)[group]
    if not mixed.any() or len(units) * kinds > MAX_ODDS:
        return expected
    pair_group, pair_unit, people = _pairs(group[mixed], line_unit[mixed], len(units))
    pair, entry = _entries(by_kind, pair_group)
    kind, owner = by_kind.indices[entry], pair_group[pair]
    equal = people[pair] * by_kind.data[entry] / size[owner]
    settled = np.flatnonzero(~mixed & (size[group] > 1))
    known = by_kind.indices[by_kind.indptr[group[settled]]]
    place = line_unit[settled].astype(np.int64) * kinds + known
    certain = np.bincount(place, minlength=len(units) * kinds).astype(np.float64)
    place = pair_unit[pair] * kinds + kind
    terms, shared = _terms(units), equal
    weights = np.zeros((terms.shape[1], kinds))
    for _ in range(ROUNDS):
        counts = certain + np.bincount(place, shared, len(certain))
        weights = fitted(terms, counts.reshape(-1, kinds), weights)
        odds = np.exp(terms @ weights).ravel()[place]
        shared = balanced(people[pair] * odds, pair, people, entry, by_kind.data)
    shape = (len(units), held.shape[0] * kinds)
    change = (shared - equal, (pair_unit[pair], owner * kinds + kind))
    moved = sparse.csr_array(change, shape=shape) @ _within_kind(held, value_event, kinds)
    cells = sparse.csr_array(expected + moved)
    cells.data = np.maximum(cells.data, 0.0)
    return cells


def fitted(terms: sparse.csr_array, counts: Floats, begin: Floats) -> Floats:
    """terms x kinds: the weights of the logit under which people of each unit are of each kind as
    often as `counts` says, as nearly as the ridge lets them."""
    present = np.flatnonzero(counts.sum(axis=1))
    terms, counts = terms[present], counts[present]
    back, people = sparse.csr_array(terms.T), counts.sum(axis=1, keepdims=True)

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(begin.shape)
        logs = terms @ weights
        top = logs.max(axis=1, keepdims=True)
        raised = np.exp(logs - top)
        total = raised.sum(axis=1, keepdims=True)
        value = (people * (np.log(total) + top)).sum() - (counts * logs).sum()
        slope = back @ (raised * (people / total) - counts) + RIDGE * weights
        return float(value + RIDGE * (weights**2).sum() / 2), slope.ravel()

    found = optimize.minimize(
        loss, begin.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}
    )
    return np.asarray(found.x.reshape(begin.shape))


def balanced(start: Floats, pair: Ints, people: Ints, entry: Ints, held: Floats) -> Floats:
    """Scales expected people until each pair (of a group and a unit) has as many as it is, and each
    entry (a group's kind of value) as many as the group holds; the latter to the last digit."""
    shared = start
    for _ in range(SCALINGS):
        shared = shared * (people / np.bincount(pair, shared))[pair]
        scale = held[entry] / np.bincount(entry, shared, len(held))[entry]
        shared = shared * scale
        if np.abs(scale - 1.0).max() < BALANCED:
            break
    return shared


def _terms(units: IntArray) -> sparse.csr_array:
    """units x terms: one of everybody, and one for each value of each QI."""
    sizes = units.max(axis=0) + 1
    start = np.cumsum(sizes, dtype=np.int64) - sizes
    columns = np.column_stack([np.zeros(len(units), np.int64), units + start + 1])
    rows = np.repeat(np.arange(len(units)), columns.shape[1])
    return sparse.csr_array((np.ones(columns.size), (rows, columns.ravel())))


def _pairs(group: IntArray, unit: IntArray, units: int) -> tuple[Ints, Ints, Ints]:
    """The distinct pairs of a group and a unit, and how many lines each has."""
    keys, people = np.unique(group.astype(np.int64) * units + unit, return_counts=True)
    return *np.divmod(keys, units), people


def _entries(by_kind: sparse.csr_array, pair_group: Ints) -> tuple[Ints, Ints]:
    """For each pair every kind that its group holds: the pair, and the place among the stored."""
    kinds = np.diff(by_kind.indptr)[pair_group]
    pair = np.repeat(np.arange(len(pair_group)), kinds)
    first = np.repeat(by_kind.indptr[pair_group] - np.cumsum(kinds) + kinds, kinds)
    return pair, np.arange(len(pair)) + first


def _within_kind(held: sparse.csr_array, value_event: IntArray, kinds: int) -> sparse.csr_array:
    """(group, kind) x values: the part of a group's kind that each of its values is."""
    group = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    place = group * kinds + value_event[held.indices] + 1
    shape = (held.shape[0] * kinds, held.shape[1])
    total = np.bincount(place, held.data, shape[0])
    return sparse.csr_array((held.data / total[place], (place, held.indices)), shape=shape)
