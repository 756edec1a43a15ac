"""The lattice of full-domain generalizations, and the search for its best passing node.

A node is one level of its hierarchy for every QI; its classes are the combinations of hierarchy
nodes that occur. What a node is worth is for a judge to say; the search only knows what a verdict
allows it to leave out. Numbers at the steps are those of tcloseness.py.

LeFevre, DeWitt, Ramakrishnan: "Incognito: Efficient Full-Domain K-Anonymity", SIGMOD 2005.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, IntArray, Ints
from shoal.data.table import Table, factorize
from shoal.data.table.hierarchy import Hierarchy
from shoal.errors import InputError
from shoal.groups import Progress

Levels = tuple[int, ...]

MAX_NODES = 1_000_000
BATCH = 1 << 20
"""Counts (classes times member values) held at once."""


@dataclass(frozen=True, eq=False)
class Lattice:
    """The nodes of every signature at every level, and the compressed sensitive column."""

    hierarchies: tuple[Hierarchy, ...]
    nodes: tuple[tuple[IntArray, ...], ...]
    """For each QI and level, the node of each signature."""
    cells: tuple[IntArray, IntArray, Ints]
    """Signature, member value, rows."""
    values: int

    @classmethod
    def of(cls, table: Table, given: Mapping[str, Hierarchy]) -> Lattice:
        bound = tuple(
            given[column.name].bind(column.values.to_list())
            if column.name in given
            else Hierarchy.flat(column.name, column.values.to_list())
            for column in table.qi
        )
        nodes = tuple(
            tuple(
                hierarchy.codes(level).astype(np.int32)[table.signatures[:, position]]
                for level in range(hierarchy.levels)
            )
            for position, hierarchy in enumerate(bound)
        )
        return cls(bound, nodes, table.member_cells, len(table.members))

    @property
    def signatures(self) -> int:
        return len(self.nodes[0][0])

    @property
    def tops(self) -> Levels:
        return tuple(hierarchy.height for hierarchy in self.hierarchies)

    @property
    def size(self) -> int:
        return math.prod(hierarchy.levels for hierarchy in self.hierarchies)

    def classes(self, levels: Levels) -> tuple[IntArray, NDArray[Any]]:
        """The class of each signature, and a key of each class."""
        columns = [self.nodes[position][level] for position, level in enumerate(levels)]
        sizes = [
            len(hierarchy.labels(level))
            for hierarchy, level in zip(self.hierarchies, levels, strict=True)
        ]
        return factorize(columns, sizes)

    def counts(self, class_of: IntArray, count: int) -> Iterator[Floats]:
        """How many rows of each class have each member value: the classes in order, a batch of
        them at a time."""
        signature, member, rows = self.cells
        of_cell = class_of[signature]
        batch = max(1, BATCH // self.values)
        if count > batch:
            by_class = np.argsort(of_cell, kind="stable")
            of_cell, member, rows = of_cell[by_class], member[by_class], rows[by_class]
        for first in range(0, count, batch):
            size = min(batch, count - first)
            part = slice(None)
            if count > batch:
                part = slice(*np.searchsorted(of_cell, [first, first + size]))
            key = (of_cell[part] - first).astype(np.int64) * self.values + member[part]
            summed = np.bincount(key, weights=rows[part], minlength=size * self.values)
            yield np.asarray(summed, dtype=np.float64).reshape(size, self.values)


@dataclass(frozen=True)
class LatticeVerdict:
    """What a node is found to be."""

    classes: int
    published: int
    """Classes that remain after suppression; 0 where the node does not pass."""
    hopeless: bool
    """No refinement of the node can pass."""


Judge = Callable[[int, Iterable[Floats]], LatticeVerdict]
"""From the number of a node's classes, and batches of their counts (classes x member values), to
what the node is."""


def search(lattice: Lattice, judge: Judge, progress: Progress) -> tuple[Levels, int]:
    """The levels of the passing node that publishes most classes, and how many were tested."""
    best, most, tested, done = lattice.tops, 0, 0, 0
    layer = [lattice.tops]
    while layer:
        open_nodes: set[Levels] = set()
        clean: set[Levels] = set()
        ceiling: dict[Levels, int] = {}  # how many classes a node has at most
        for levels in sorted(layer, key=lambda levels: (sum(levels), levels)):  # 3
            progress("lattice", done, lattice.size)
            done += 1
            finer = [node for node in _finer(levels, lattice.tops) if node in ceiling]
            ceiling[levels] = min((ceiling[node] for node in finer), default=lattice.signatures)
            if not clean.isdisjoint(finer):
                clean.add(levels)
            if levels in clean or ceiling[levels] < most:
                open_nodes.add(levels)
                continue
            class_of, keys = lattice.classes(levels)  # 4
            verdict = judge(len(keys), lattice.counts(class_of, len(keys)))
            tested += 1
            ceiling[levels] = verdict.classes
            if not verdict.hopeless:
                open_nodes.add(levels)
            if verdict.published == verdict.classes:
                clean.add(levels)
            if (-verdict.published, levels) < (-most, best):  # 6
                best, most = levels, verdict.published
        layer = _next_layer(open_nodes, lattice.tops)  # 2
    progress("lattice", lattice.size, lattice.size)
    return best, tested


def _finer(levels: Levels, tops: Levels) -> Iterator[Levels]:
    """The refinements by one level of one QI that is below its top already."""
    for position, (level, top) in enumerate(zip(levels, tops, strict=True)):
        if 0 < level < top:
            yield (*levels[:position], level - 1, *levels[position + 1 :])


def _next_layer(open_nodes: set[Levels], tops: Levels) -> list[Levels]:
    """Nodes with one more QI below its top, all of whose QI subsets are still open."""
    layer: list[Levels] = []
    for levels in open_nodes:
        used = [position for position, level in enumerate(levels) if level < tops[position]]
        for position in range(used[-1] + 1 if used else 0, len(tops)):
            for level in range(tops[position]):
                node = (*levels[:position], level, *levels[position + 1 :])
                subsets = ((*node[:p], tops[p], *node[p + 1 :]) for p in used)
                if all(subset in open_nodes for subset in subsets):
                    layer.append(node)
        if len(layer) > MAX_NODES:
            problem = f"The lattice of generalizations has more than {MAX_NODES:,} nodes to test."
            remedy = "Give fewer QIs, hierarchies with fewer levels, or a smaller t."
            raise InputError("lattice-too-large", problem, remedy)
    return layer
