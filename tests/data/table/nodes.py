"""Nodes of a hierarchy above values and below nodes, one by one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from shoal.data.table.hierarchy import Hierarchy


def covering(tree: Hierarchy, codes: Iterable[int]) -> tuple[int, int]:
    """Level and number of the lowest node above all these values, given as level-0 codes."""
    some = [int(code) for code in codes]
    for level in range(tree.levels):
        nodes = set(tree.codes(level)[some].tolist())
        if len(nodes) == 1:
            return level, int(nodes.pop())
    raise AssertionError("a hierarchy has one top")


def common_node(tree: Hierarchy, values: Iterable[object]) -> tuple[int, str]:
    """Level and label of the lowest node above all these values."""
    texts = {"(missing)" if value is None else str(value).removesuffix(".0") for value in values}
    codes = [code for code, path in enumerate(tree.paths) if path[0] in texts]
    assert len(codes) == len(texts)
    level, node = covering(tree, codes)
    return level, tree.labels(level)[node]


def children(tree: Hierarchy, level: int, node: int) -> list[int]:
    """The numbers, one level down, of a node's children."""
    below = tree.codes(level - 1)[tree.codes(level) == node]
    return np.unique(below).tolist()
