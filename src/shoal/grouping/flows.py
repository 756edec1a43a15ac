"""Who carries in every world that agrees with the carriers of groups and of classes.

Worlds are whole-numbered flows from groups to classes: how many of a group's carriers are of which
class. In any one of them (the truth is one, and which is taken does not matter) the people of a
group and class who carry can be others exactly where a cycle of the residual graph leads through
the two: where they are strongly connected.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def certain_carriers(case: Ints, kind: NDArray[np.integer], people: Ints, carrying: Ints) -> Bools:
    """Whether all people of each line carry in every world; lines are of so many people of a group
    (`case`) and a class (`kind`), some of whom carry."""
    width = int(kind.max(initial=0)) + 1
    keys, edge = np.unique(case * width + kind, return_inverse=True)
    capacity = np.bincount(edge, people, len(keys))
    flow = np.bincount(edge, carrying, len(keys))
    cases, left = np.unique(keys // width, return_inverse=True)
    classes, right = np.unique(keys % width, return_inverse=True)
    right = right + len(cases)
    more, less = flow < capacity, flow > 0
    tail = np.concatenate([left[more], right[less]])
    head = np.concatenate([right[more], left[less]])
    nodes = len(cases) + len(classes)
    graph = coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(nodes, nodes))
    _, part = connected_components(graph.tocsr(), directed=True, connection="strong")
    full = (flow == capacity) & (part[left] != part[right])
    return np.asarray(full[edge])
