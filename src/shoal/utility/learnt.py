"""Learnt shares: who in a group is likelier to carry its event, told from the release alone.

Equal shares treat everybody in a group alike, so that a class whose people carry an event often
lends its carriers to the people it is grouped with. The release as a whole tells more. A logit that
adds up a term for each QI value is fitted to the counts that equal shares give; each group's events
are then shared by those odds, such that everybody still has one value and every group as many of
each as it publishes.

It helps where the event depends strongly on who one is, and where groups were made without regard
to who carries. It cannot tell such dependence from groups that were filled unevenly, and makes that
worse: hence one round only. Repeated until nothing changes (expectation and maximisation), the
shares of unevenly filled groups drift ever further from the truth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from shoal.table import IntArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

RIDGE = 1 / 3
"""How strongly terms are held at 0: those of values that few people have stay near it."""
STEPS = 100
BALANCED = 1e-9
ROUNDS = 1_000


def learnt_cells(
    units: IntArray,
    line_unit: IntArray,
    group: IntArray,
    held: sparse.csr_array,
    value_event: IntArray,
    expected: sparse.csr_array,
) -> sparse.csr_array:
    """units x values: the rows expected, from those expected with equal shares.

    `units` has the QI codes of each; `line_unit` and `group` tell of each published line; `held` is
    groups x values; `value_event` gives the event of each value, or -1.
    """
    kinds = sparse.csr_array(np.eye(value_event.max(initial=-1) + 2)[value_event + 1])
    by_kind = sparse.csr_array(held @ kinds)
    mixed = np.diff(by_kind.indptr) > 1
    lines = np.flatnonzero(mixed[group])
    keys, people = np.unique(
        group[lines].astype(np.int64) * len(units) + line_unit[lines], return_counts=True
    )
    pair_group, pair_unit = np.divmod(keys, len(units))
    if not len(keys):
        return expected
    odds = fit_odds(units, np.asarray((expected @ kinds).toarray()))
    pair, entry = _entries(by_kind, pair_group)
    kind, size = by_kind.indices[entry], np.bincount(pair_group, people)
    shared = balanced(people[pair] * odds[pair_unit[pair], kind], pair, people, entry, by_kind.data)
    equal = people[pair] * by_kind.data[entry] / size[pair_group[pair]]
    shape = (len(units), held.shape[0] * kinds.shape[1])
    place = (pair_unit[pair], pair_group[pair] * kinds.shape[1] + kind)
    moved = sparse.csr_array((shared - equal, place), shape=shape) @ _within_kind(
        held, value_event, by_kind
    )
    cells = sparse.csr_array(expected + moved)
    cells.data = np.maximum(cells.data, 0.0)
    return cells


def fit_odds(units: IntArray, counts: Floats) -> Floats:
    """units x kinds: the odds of each kind against the first, additive over the QIs' values on a
    log scale, where `counts` says how many of each unit are of each kind."""
    sizes = units.max(axis=0) + 1
    # The term of everybody comes first, then those of each QI's values.
    columns = np.column_stack([np.zeros(len(units)), units + 1 + np.cumsum(sizes) - sizes])
    rows = np.repeat(np.arange(len(units)), columns.shape[1])
    place = (rows, columns.ravel().astype(np.int64))
    terms = sparse.csr_array((np.ones(columns.size), place))
    back, people = sparse.csr_array(terms.T), counts.sum(axis=1)
    shape = (terms.shape[1], counts.shape[1] - 1)
    ridge = np.full((shape[0], 1), RIDGE)
    ridge[0] = 0.0
    known = counts[:, 1:]

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(shape)
        log_odds = terms @ weights
        top = np.maximum(log_odds.max(axis=1, initial=0.0), 0.0)[:, None]
        raised = np.exp(log_odds - top)
        total = np.exp(-top[:, 0]) + raised.sum(axis=1)
        value = people @ (np.log(total) + top[:, 0]) - (known * log_odds).sum()
        slope = back @ (raised * (people / total)[:, None] - known) + ridge * weights
        return float(value + (ridge * weights**2).sum() / 2), slope.ravel()

    begin = np.zeros(shape)
    begin[0] = np.log((known.sum(axis=0) + 0.5) / (counts[:, 0].sum() + 0.5))
    found = optimize.minimize(
        loss, begin.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}
    )
    log_odds = terms @ found.x.reshape(shape)
    return np.column_stack([np.ones(len(units)), np.exp(log_odds)])


def balanced(
    start: Floats, pair: Ints, people: Ints, entry: Ints, held: NDArray[np.float64]
) -> Floats:
    """Scales expected people until each pair has as many as it is, and each entry (a group's kind
    of value) as many as the group holds; of the latter not one is lost to rounding."""
    shared = start
    for _ in range(ROUNDS):
        shared = shared * (people / np.bincount(pair, shared))[pair]
        total = np.bincount(entry, shared, len(held))
        scale = np.divide(held, total, out=np.ones(len(held)), where=total > 0)
        shared = shared * scale[entry]
        if np.abs(scale[entry] - 1.0).max() < BALANCED:
            break
    return shared


def _entries(by_kind: sparse.csr_array, pair_group: Ints) -> tuple[Ints, Ints]:
    """For each pair every kind that its group holds: the pair, and the place among the stored."""
    kinds = np.diff(by_kind.indptr)[pair_group]
    pair = np.repeat(np.arange(len(pair_group)), kinds)
    first = np.repeat(by_kind.indptr[pair_group] - np.cumsum(kinds) + kinds, kinds)
    return pair, np.arange(len(pair)) + first


def _within_kind(
    held: sparse.csr_array, value_event: IntArray, by_kind: sparse.csr_array
) -> sparse.csr_array:
    """(group, kind) x values: the part of a group's kind that each of its values is."""
    kinds = by_kind.shape[1]
    group = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    place = group * kinds + value_event[held.indices] + 1
    total = np.bincount(place, held.data, held.shape[0] * kinds)
    shape = (held.shape[0] * kinds, held.shape[1])
    return sparse.csr_array((held.data / total[place], (place, held.indices)), shape=shape)
