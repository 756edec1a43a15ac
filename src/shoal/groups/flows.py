"""Who carries in every world that agrees with the carriers of groups and of classes.

Worlds are whole-numbered flows from groups to classes: how many of a group's carriers are of which
class. In any one of them (the truth is one, and which is taken does not matter) the people of a
group and class who carry can be others exactly where a cycle of the residual graph leads through
the two: where they are strongly connected.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from shoal.arrays import Bools, Whole


class Flow(NamedTuple):
    """Carriers on their way from groups to classes, as lines of so many people of a group and a
    class. Nodes are first groups, then classes."""

    group: Whole
    kind: Whole
    """Of each line: its group and its class."""
    certain: Bools
    """Whether all people of a line carry, in every world."""
    groups: int
    residual: csr_array
    """From a group to a class of which one more could carry there, and back from a class of which
    one less could. (Lines of the same two need not be added up: one of people who carry and one of
    people who do not are a cycle.)"""

    @classmethod
    def of(cls, group: Whole, kind: Whole, people: Whole, carrying: Whole) -> Flow:
        groups, classes = (int(one.max(initial=-1)) + 1 for one in (group, kind))
        node, more, less = kind + groups, carrying < people, carrying > 0
        tail = np.concatenate([group[more], node[less]])
        head = np.concatenate([node[more], group[less]])
        shape = (groups + classes, groups + classes)
        residual = csr_array(coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=shape))
        _, part = connected_components(residual, directed=True, connection="strong")
        certain = ~more & (part[group] != part[node])
        return cls(group, kind, certain, groups, residual)

    def reached(self, line: int) -> Whole:
        """The groups whose carriers could be others if one more in the group of a line were: one
        more person of its class in any of them, and nobody of the line is certain."""
        nodes = breadth_first_order(
            self.residual, self.group[line], directed=True, return_predecessors=False
        )
        return np.asarray(nodes[nodes < self.groups])
