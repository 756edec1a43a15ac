"""Which edges of a bipartite graph lie in a perfect matching, for all edges at once.

Given one perfect matching M, an edge (i, j) lies in some perfect matching exactly if it is in M, or
on a cycle that alternates between M and other edges. Lead an arc from i to the partner in M of each
of its neighbours: alternating cycles become directed cycles, so (i, j) qualifies exactly if i and
the partner of j are in one strongly connected component. M by Hopcroft and Karp.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from shoal.arrays import Bools, Ints


def in_perfect_matching(left: Ints, right: Ints, block: Ints) -> Bools:
    """For each edge (left, right) whether some perfect matching of its block has it.

    Both sides have the vertices 0 to len(block)-1, and edges stay inside a block. A block without
    a perfect matching has no such edge; other blocks do not suffer from it.
    """
    size = len(block)
    partner = maximum_bipartite_matching(_graph(left, right, size), perm_type="column")
    broken = np.zeros(int(block.max(initial=-1)) + 1, dtype=bool)
    broken[block[partner < 0]] = True
    whole = ~broken[block[left]]
    holder = np.zeros(size, dtype=np.int64)
    matched = np.flatnonzero(partner >= 0)
    holder[partner[matched]] = matched
    onward = holder[right]
    arcs = _graph(left[whole], onward[whole], size)
    _, component = connected_components(arcs, directed=True, connection="strong")
    same: Bools = whole & (component[left] == component[onward])
    return same


def _graph(start: Ints, end: Ints, size: int) -> csr_array:
    ones = np.ones(len(start), dtype=np.int8)
    return csr_array((ones, (start, end)), shape=(size, size))
