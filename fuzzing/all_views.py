"""The adversary of all views on random small tables, against the list of all worlds."""

from __future__ import annotations

from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from shoal.auditing.audit import audit
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.knowledge import Knowledge
from shoal.knowledge.entropy import most_believed
from tests.oracle.entropy import by_entropy, possible_worlds

MOST_LISTED = 20_000
"""Tables with more worlds are passed over."""
RIDGE = 1e-8
FIT = 0.02
"""How far the fit may be from the list, by its ridge and where it stops."""


def wrong_of_all_views(table: Table, grouping: Grouping, groups: NDArray[np.integer]) -> list[str]:
    """What is wrong with its verdict; `groups` is the group of each row, or -1."""
    if grouping.values_changed:
        return []
    views, inside, largest = Knowledge.of(table).views, groups >= 0, 0.0
    above, nearly = np.zeros(table.rows, bool), np.zeros(table.rows, bool)
    index = [view.index[table.row_signature] for view in views]
    strata = np.array([one == k for one in index for k in range(int(one.max()) + 1)])
    parts = [np.flatnonzero(groups == one).tolist() for one in np.unique(groups)]
    for event in range(len(table.events)):
        carry = table.holds(event)[table.row_value]
        cases, counts = [int(carry[some].sum()) for some in parts], strata @ carry.astype(float)
        ways = prod(comb(len(some), count) for some, count in zip(parts, cases, strict=True))
        if max(ways, comb(table.rows, int(carry.sum()))) > MOST_LISTED:
            return []
        everybody = possible_worlds([range(table.rows)], [int(carry.sum())], table.rows)
        worlds = possible_worlds(parts, cases, table.rows)
        before = by_entropy(everybody, strata, counts, RIDGE)
        after = by_entropy(worlds, strata, counts, RIDGE)
        limit = most_believed(np.maximum(1 / table.event_r[event], before))
        holding = inside & np.isin(groups, groups[carry])
        largest = max(largest, float(after[holding].max(initial=0.0)))
        above |= holding & (after > limit + FIT)
        nearly |= holding & (after > limit - FIT)
    found = audit(table, grouping, adversary="all-views").by_adversary["all-views"]
    least, most = int(above.sum()), int(nearly.sum())
    wrong = []
    if abs(found.worst_posterior - largest) > FIT:
        wrong.append(f"all-views: {found.worst_posterior}, and not {largest}")
    if not least <= found.problematic <= most:
        wrong.append(f"all-views: {found.problematic} problematic, and not {least} to {most}")
    if found.robust and least:
        wrong.append("all-views: a false robust")
    return wrong
