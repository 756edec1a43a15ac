"""Mondrian: k-anonymity by cutting the table's space into ever smaller boxes.

The space of the QIs is cut at the median of its widest attribute, both halves again, and so on,
as long as every part keeps k rows. What can be cut no further is a class, and its rows are
published with the ranges of their QI values. With l given, every part must also keep l distinct
sensitive values (distinct l-diversity).

LeFevre, DeWitt, Ramakrishnan: "Mondrian Multidimensional K-Anonymity", ICDE 2006;
Machanavajjhala et al.: "l-Diversity", ICDE 2006.

1. All signatures make the first box.
2. Sort a box's QIs by width: the share of the domain's range, or of the hierarchy's values.
3. Try to cut the widest: at the median if it is ordered, else into the children of the lowest
   hierarchy node above its values. If a part has fewer than k rows (or l values), try the next.
4. A box that no QI can cut is a class. Publish the range of its values in every QI.

Symbols: k rows and l distinct published values that every class has at least.

Departures from the paper:
- Boxes hold signatures, weighted by their rows; rows of one signature are never parted (strict).
- The median cut is the one between two neighbouring values that divides the rows most evenly. The
  paper cuts above the median value, which fails where half the rows have the largest value.
- Numbers and dates are cut by value also where they have a hierarchy; a missing value lies beyond
  the largest. Other QIs without a hierarchy are halved in the order of their values.
- Ranges are those of the class's own values, tighter than the box.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.arrays import Floats
from shoal.data.table import Column, Table
from shoal.data.table.hierarchy import Hierarchy
from shoal.errors import InputError
from shoal.groups import Grouping, Progress, silent
from shoal.groups.generalization import generalize, has_order, missing_code
from shoal.groups.ragged import Ragged
from shoal.methods.mondrian.kernels import Content, Domains, cut_classes
from shoal.methods.parameters import whole


@dataclass(frozen=True)
class Mondrian:
    """Strict multidimensional k-anonymity, with distinct l-diversity if asked."""

    name: ClassVar[str] = "mondrian"

    k: int | None = None
    """The fewest rows of a group; None means the spec's r, rounded up."""
    l: int | None = None  # noqa: E741
    """The fewest distinct published values of a group; None means any number."""
    hierarchies: Mapping[str, Hierarchy] | None = None
    """Hierarchies by QI name, used for the QIs whose values have no order."""

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        """Generalizes the table. Nothing is drawn at random: every seed gives the same."""
        rows = whole("k", self.k, table, least=1)
        values = 1 if self.l is None else whole("l", self.l, table, least=1)
        _check_possible(table, rows, values)
        progress("cutting", 0, table.rows)
        trees = _trees(table, self.hierarchies or {})
        classes = cut_classes(  # 1 to 3
            table.signatures, _domains(table, trees), _content(table), rows, values
        )
        progress("cutting", table.rows, table.rows)
        signatures = np.arange(len(classes), dtype=np.int32)
        recodings = generalize(table, classes, signatures, trees, sets=True)  # 4
        return Grouping.of_classes(
            table, classes, form="generalized", recodings=recodings, claims=_claims(rows, self.l)
        )


def _claims(rows: int, values: int | None) -> dict[str, Any]:
    guarantee = f"each class has at least {rows} rows"
    if values is None:
        return {"k": rows, "guarantee": guarantee}
    guarantee += f" and {values} distinct published values"
    return {"k": rows, "l": values, "guarantee": guarantee}


def _check_possible(table: Table, rows: int, values: int) -> None:
    if table.rows < rows:
        problem = f"The table has {table.rows:,} rows, fewer than k = {rows:,}."
        raise InputError("table-below-k", problem, f"Give a k of at most {table.rows:,}.")
    if len(table.values) < values:
        problem = f'"{table.members.name}" publishes {len(table.values):,} different values, '
        problem += f"fewer than l = {values:,}."
        raise InputError("table-below-k", problem, f"Give an l of at most {len(table.values):,}.")


def _trees(table: Table, hierarchies: Mapping[str, Hierarchy]) -> dict[str, Hierarchy]:
    """The hierarchies that are cut along, bound to the table's values."""
    return {
        column.name: hierarchies[column.name].bind(column.values.to_list())
        for column in table.qi
        if column.name in hierarchies and not has_order(column)
    }


def _domains(table: Table, trees: Mapping[str, Hierarchy]) -> Domains:
    sizes = [len(column) for column in table.qi]
    ends = np.cumsum(sizes)
    levels = np.array([trees[c.name].levels if c.name in trees else 0 for c in table.qi])
    node = np.zeros((max(1, levels.max()), ends[-1]), dtype=np.int64)
    width = np.zeros(node.shape)
    position = np.zeros(ends[-1])
    for column, start, end in zip(table.qi, ends - sizes, ends, strict=True):
        if column.name not in trees:
            position[start:end] = _positions(column)
            continue
        tree = trees[column.name]
        for level in range(tree.levels):
            codes = tree.codes(level)
            node[level, start:end] = codes
            width[level, start:end] = (np.bincount(codes)[codes] - 1) / max(1, len(column) - 1)
    return Domains((ends - sizes).astype(np.int64), levels.astype(np.int64), position, node, width)


def _positions(column: Column) -> Floats:
    """Values from 0 (least) to 1 (greatest), a missing one a step further; else by order."""
    known = missing_code(column)
    places = np.arange(len(column)) / max(1, known - 1)
    if has_order(column) and known > 1:
        numbers = column.values[:known].to_physical().cast(float).to_numpy()
        span = numbers[-1] - numbers[0]
        if np.isfinite(span) and span > 0:
            places[:known] = (numbers - numbers[0]) / span
    return np.asarray(places, dtype=np.float64)


def _content(table: Table) -> Content:
    signature, value, _ = table.cells
    starts = Ragged.of_owners(signature, len(table.signatures)).start
    return Content(table.signature_rows, starts, value.astype(np.int64))
