"""t-closeness by full-domain generalization.

Every QI is generalized to one level of its hierarchy, the same for all rows, so that a release is
a node of the lattice of level combinations. A node passes when in each of its classes the sensitive
attribute is distributed nearly as in the whole table: earth mover's distance (EMD) at most t.
Of the passing nodes the one with most classes tells most, and is published.

Li, Li, Venkatasubramanian: "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", ICDE 2007;
the search is that of LeFevre, DeWitt, Ramakrishnan: "Incognito", SIGMOD 2005.

1. Bind a hierarchy to every QI, and give each signature its node at each level.
2. Take the sets of QIs by size, from none to all. The nodes of a set keep its QIs below the top and
   all others at the top; keep those that no smaller set has shown to be hopeless (step 5).
3. Go through them breadth first, from the most specific. Skip a node that refines to one whose
   classes all pass: its own classes all pass too, and are not more.
4. Merge the signatures into the node's classes, and compare each class with the table.
5. Call the node hopeless if no refinement of it can pass either (below).
6. Keep the passing node with most published classes, of equals the one with the smallest levels.
7. Publish its classes, less those above t.

Symbols: n rows; t; s, the rows that may be suppressed; N_C rows and EMD d_C of a class C.

Why the skips are sound. The EMD is convex: a union of classes is no farther from the table than the
mean of its parts, weighted by rows. So if all classes pass, those of every generalization do. With
suppression that is not enough: a class above t can be suppressed alone, and be too large to be
suppressed when merged, and a generalization can publish more classes than a node that suppresses
some. Step 3 therefore counts only nodes where *no* class is above t. For step 5, let C be split in
any way and let the parts above t hold m rows: convexity gives d_C N_C <= t (N_C - m) + m, as no EMD
is above 1, hence m >= N_C (d_C - t) / (1 - t). A node is hopeless when those minima add up to more
than s. With s = 0 that is "some class is above t", and the search is Incognito's. A third skip is
sound in any case: a node has no more classes than one that refines it; if those are fewer than
the best node publishes, it cannot win.

Departures from the paper:
- The sensitive attribute is taken as it stands in the table, every value on its own, also where
  several values make one protected event; t-closeness knows no events.
- A class passes up to EMD t + 1e-12. That forgives the rounding of a class that lies exactly at t,
  which would otherwise fail or pass by chance, and nothing else.
- Suppression (ARX's "suppression limit", a share of rows) is not in the paper. Classes are compared
  with the whole original table, suppressed rows included: otherwise each suppression would change
  what all other classes are measured by. Seen from the published rows alone the EMD can differ.
- Ordered EMD of a text attribute needs an order: that in which its hierarchy lists the values.
  A missing value stands after the largest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.data.table import Table
from shoal.data.table.hierarchy import Hierarchy
from shoal.errors import InputError, unknown
from shoal.groups import SUPPRESSED, Grouping, Progress, Recoding, silent
from shoal.methods.parameters import share
from shoal.methods.tcloseness.lattice import Lattice, LatticeVerdict, Levels, search

# Earth mover's distance between distributions over the same values, in three forms.
#
# The idea: the least work that turns one distribution into another, work being mass times
# distance. What differs is the distance of two values: equal (always 1), ordered (steps between
# them over the longest walk), hierarchical (level of their lowest common node over the
# hierarchy's height). Each has a closed form, so no linear program is solved. Li, Li,
# Venkatasubramanian: "t-Closeness", ICDE 2007.
#
# Each function takes `p`, one distribution per row (or a single one), and `q`, the one that all
# are compared with, and returns one distance in [0, 1] per row of `p`.


def equal(p: ArrayLike, q: ArrayLike) -> Floats:
    """All values are equally far apart: half the sum of |p - q|."""
    return _half_absolute_sum(_surplus(p, q))


def ordered(p: ArrayLike, q: ArrayLike) -> Floats:
    """Values stand in order, evenly spaced: what has to cross each gap, over the gaps."""
    surplus = _surplus(p, q)
    gaps = surplus.shape[1] - 1
    if gaps < 1:
        return np.zeros(len(surplus))
    crossing = np.abs(np.cumsum(surplus, axis=1)[:, :-1])
    return np.asarray(crossing.sum(axis=1) / gaps, dtype=np.float64)


def hierarchical(p: ArrayLike, q: ArrayLike, hierarchy: Hierarchy) -> Floats:
    """Values are as far apart as the level of their lowest common node, over the height.

    Li et al. sum height(node)/H * min(inflow, outflow) over the inner nodes. Counted level
    by level that is the mean, over the levels below the top, of the equal distance between
    the distributions generalized to that level. Columns follow `hierarchy.values`.
    """
    surplus = _surplus(p, q)
    total = _half_absolute_sum(surplus)
    for level in range(1, hierarchy.height):
        surplus = _sum_by_parent(surplus, hierarchy.parent(level - 1))
        total += _half_absolute_sum(surplus)
    return total / hierarchy.height


def _surplus(p: ArrayLike, q: ArrayLike) -> Floats:
    return np.atleast_2d(np.asarray(p, dtype=np.float64)) - np.asarray(q, dtype=np.float64)


def _half_absolute_sum(surplus: Floats) -> Floats:
    return np.asarray(np.abs(surplus).sum(axis=1) / 2, dtype=np.float64)


def _sum_by_parent(surplus: Floats, parent: Ints) -> Floats:
    """Adds up the columns that share a parent; every parent has at least one child."""
    order = np.argsort(parent, kind="stable")
    starts = np.flatnonzero(np.diff(parent[order], prepend=-1))
    return np.add.reduceat(surplus[:, order], starts, axis=1)


DISTANCES = ("equal", "ordered", "hierarchical")

TOLERANCE = 1e-12
ROW_TOLERANCE = 1e-6


@dataclass(frozen=True)
class TCloseness:
    """Full-domain generalization to classes within EMD t of the whole table."""

    name: ClassVar[str] = "t-closeness"

    t: float = 0.2
    """The largest EMD of a group to the whole table, 0 to 1."""
    emd: Literal["equal", "ordered", "hierarchical"] = "equal"
    """How far two sensitive values are apart: equal, ordered or hierarchical."""
    hierarchies: Mapping[str, Hierarchy] | None = None
    """Hierarchies by attribute; a QI without one is published as it is or not at all. That of the
    sensitive attribute is used if `sensitive_hierarchy` is not given; other names are not used."""
    sensitive_hierarchy: Hierarchy | None = None
    """Gives hierarchical EMD its distances, and ordered EMD of a text attribute its order."""
    max_suppression: float = 0.0
    """The largest share of the rows that may be suppressed."""

    def __post_init__(self) -> None:
        share("t", self.t)
        share("max_suppression", self.max_suppression)
        if self.emd not in DISTANCES:
            raise unknown("emd", f"{self.emd!r} is no form of EMD", str(self.emd), DISTANCES)
        if self.emd == "equal" and self.sensitive_hierarchy is not None:
            problem = "Equal distance has no use for a hierarchy of the sensitive attribute."
            raise InputError("emd", problem, "Leave it out, or ask for hierarchical EMD.")

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        """The passing node with most classes, generalized; nothing is drawn, so no seed matters."""
        lattice = Lattice.of(table, self.hierarchies or {})  # 1
        judge = _Closeness(
            distances=self._distances(table),
            t=float(self.t),
            limit=math.floor(self.max_suppression * table.rows + ROW_TOLERANCE),
        )
        levels, tested = search(lattice, judge, progress)  # 2-6
        class_of, keys = lattice.classes(levels)
        batches = lattice.counts(class_of, len(keys))
        distance = np.concatenate([judge.distances(_shares(counts)) for counts in batches])
        kept = distance <= judge.t + TOLERANCE  # 7
        number = np.where(kept, np.cumsum(kept) - 1, SUPPRESSED).astype(np.int32)
        classes = number[class_of]
        claims: dict[str, Any] = {
            "t": judge.t,
            "emd": self.emd,
            "guarantee": f"in each class the distribution of {table.members.name} is within EMD "
            f"{judge.t:g} ({self.emd}) of that in the whole table",
            "largest_emd": float(distance[kept].max()),
            "levels": {column.name: level for column, level in zip(table.qi, levels, strict=True)},
            "classes": int(kept.sum()),
            "lattice_nodes": lattice.size,
            "nodes_tested": tested,
            "max_suppression": float(self.max_suppression),
            "suppressed": int(table.signature_rows[classes == SUPPRESSED].sum()),
        }
        recodings = _recodings(table, lattice, levels, class_of, kept)
        return Grouping.of_classes(
            table, classes, form="generalized", recodings=recodings, claims=claims
        )

    def _distances(self, table: Table) -> Callable[[Floats], Floats]:
        """The function from class distributions to their EMD from the table's."""
        members = table.members
        whole = table.member_rows / table.rows
        if self.emd == "equal":
            return lambda shares: equal(shares, whole)
        hierarchy = self.sensitive_hierarchy or (self.hierarchies or {}).get(members.name)
        if self.emd == "ordered":
            order = _order(table, hierarchy)
            return lambda shares: ordered(shares[:, order], whole[order])
        if hierarchy is None:
            problem = f'Hierarchical EMD needs a hierarchy of "{members.name}".'
            raise InputError("emd", problem, "Give one, or ask for equal EMD.")
        bound = hierarchy.bind(members.values.to_list())
        return lambda shares: hierarchical(shares, whole, bound)


@dataclass(frozen=True)
class _Closeness:
    """Judges the nodes of the lattice."""

    distances: Callable[[Floats], Floats]
    t: float
    limit: int

    def __call__(self, classes: int, batches: Iterable[Floats]) -> LatticeVerdict:
        """Compares the classes with the table, until the node is known to be hopeless."""
        above, suppressed, minimum = 0, 0, 0.0
        for counts in batches:
            distance = self.distances(_shares(counts))
            failing = distance > self.t + TOLERANCE
            if not failing.any():
                continue
            rows = counts[failing].sum(axis=1)
            above += int(failing.sum())
            suppressed += int(rows.sum())
            minimum += float(rows @ (distance[failing] - self.t)) / (1 - self.t)  # 5
            if minimum > self.limit + ROW_TOLERANCE:
                return LatticeVerdict(classes, 0, True)
        return LatticeVerdict(classes, classes - above if suppressed <= self.limit else 0, False)


def _shares(counts: Floats) -> Floats:
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _recodings(
    table: Table, lattice: Lattice, levels: Levels, class_of: IntArray, kept: Bools
) -> tuple[Recoding, ...]:
    """For each QI its nodes at the chosen level, and the node of every published class."""
    example = np.empty(len(kept), dtype=np.int64)
    example[class_of] = np.arange(len(class_of))
    recodings = []
    for position, (column, level) in enumerate(zip(table.qi, levels, strict=True)):
        hierarchy = lattice.hierarchies[position]
        labels = column.labels if level == 0 else tuple(hierarchy.labels(level))
        members = hierarchy.codes(level)[None, :] == np.arange(len(labels))[:, None]
        recodings.append(Recoding(labels, members, lattice.nodes[position][level][example[kept]]))
    return tuple(recodings)


def _order(table: Table, hierarchy: Hierarchy | None) -> Ints:
    """The member values from the smallest to the largest."""
    members = table.members
    if members.values.dtype != pl.String:
        return np.arange(len(members))
    if hierarchy is None:
        problem = f'Ordered EMD needs an order, and "{members.name}" holds text.'
        remedy = "Give a hierarchy that lists the values in their order, or ask for equal EMD."
        raise InputError("emd", problem, remedy)
    texts = [path[0] for path in hierarchy.bind(members.values.to_list()).paths]
    place = {path[0]: number for number, path in enumerate(hierarchy.paths)}
    return np.argsort([place.get(text, len(place)) for text in texts], kind="stable")
