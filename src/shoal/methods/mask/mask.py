"""MASK: generalization, then distortion of the classes where an event is too frequent.

An adversary who knows that a method generalizes no more than its goal demands can read from a
class why it was made (minimality attack). MASK therefore makes the classes from the QIs alone, so
that they say nothing of the sensitive attribute, and where an event exceeds 1/m in a class it
changes values until the class looks like one of those that need no change. Published values are
then no longer all true: how many were changed is part of the claims.

Wong, Fu, Wang, Pei: "Minimality Attack in Privacy Preserving Data Publishing", VLDB 2007.
Reconstructed from its description, not from the authors' program.

1. Make k-anonymous classes by Mondrian, from the QIs alone.
2. V is the classes where the event's share exceeds 1/m. Draw (m-1)|V| of the others as L, or take
   all of them if they are fewer.
3. D is the event's shares in L.
4. For each class of V draw a share from D, and replace the event in random rows until the class
   has that share. A replacement is drawn from the class's own values that are no event, in
   proportion to how often it has them; if it has none, from the table's.

Symbols: k rows of a class at least, 1/m the largest share of an event, k = m = r.

Departures from the paper:
- With several events, steps 2 to 4 are done for each, all of them from the true values.
- A share becomes the nearest whole number of rows that is not above 1/m.
- If no class is outside V, D is the share 1/m.
- If every value of the table is an event, a replacement is a value of another event that was not
  above 1/m in the class and has room below it. Where there is none, the row keeps its value, and
  the class is claimed as one that does not meet 1/m.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints
from shoal.data.table import Table, factorize
from shoal.data.table.hierarchy import Hierarchy
from shoal.errors import InputError
from shoal.groups import Grouping, Progress, silent
from shoal.groups.ragged import Ragged
from shoal.methods.mask.kernels import SLACK, Orders, Values, distort
from shoal.methods.mondrian import Mondrian
from shoal.methods.parameters import whole


@dataclass(frozen=True)
class Mask:
    """k-anonymous classes whose sensitive values are changed where an event exceeds 1/m."""

    name: ClassVar[str] = "mask"

    k: int | None = None
    """The fewest rows of a class; None means the spec's r, rounded up."""
    m: float | None = None
    """No event may have more than 1/m of a group; None means each event's r."""
    hierarchies: Mapping[str, Hierarchy] | None = None
    """Hierarchies by QI name, as Mondrian uses them."""

    def __post_init__(self) -> None:
        number = isinstance(self.m, int | float) and not isinstance(self.m, bool)
        if self.m is not None and not (number and 1 < self.m < math.inf):
            raise InputError("m-number", f"m is {self.m!r}.", "Give a number above 1.")

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        """Generalizes the table and changes values; the claims say how many, and what it met."""
        k = whole("k", self.k, table, least=1)
        m = table.event_r if self.m is None else np.full(len(table.events), float(self.m))
        rng = np.random.default_rng(seed)
        boxes = Mondrian(k=k, hierarchies=self.hierarchies)
        classes = boxes.anonymize(table, progress=progress)  # 1
        groups = _row_classes(table, classes)
        progress("distorting", 0, table.rows)
        before = _Shares.of(groups, table.by_cell.event, m)
        values = _distorted(table, groups, before, rng)
        after = _Shares.of(groups, table.value_event[values], m)
        progress("distorting", table.rows, table.rows)
        return Grouping.of_people(
            table,
            groups,
            values=values,
            form="generalized",
            recodings=classes.recodings,
            claims={
                "k": k,
                "m": _published_m(table, m),
                **_outcome(before, after),
                "values_changed": int((values != table.by_cell.value).sum()),
            },
        )


def _row_classes(table: Table, classes: Grouping) -> IntArray:
    """The class of every row: alike rows are in one."""
    of_signature = np.empty(len(table.signatures), np.int32)
    of_signature[classes.signature] = classes.group
    return of_signature[table.by_cell.signature]


@dataclass(frozen=True, eq=False)
class _Shares:
    """How many rows of each class carry each event: one entry for each pair that occurs."""

    group: Ints
    event: Ints
    rows: Ints
    size: Ints
    """The rows of each class."""
    m: Floats

    @classmethod
    def of(cls, groups: IntArray, events: IntArray, m: Floats) -> _Shares:
        size = np.bincount(groups)
        carries = events >= 0
        pair, keys = factorize([groups[carries], events[carries]], [len(size), len(m)])
        group, event = np.divmod(keys.astype(np.int64), len(m))
        return cls(group, event, np.bincount(pair, minlength=len(keys)), size, m)

    @property
    def over(self) -> Bools:
        """Which pairs exceed 1/m."""
        return np.asarray(self.rows * self.m[self.event] > self.size[self.group] * SLACK)


def _distorted(
    table: Table, groups: IntArray, shares: _Shares, rng: np.random.Generator
) -> IntArray:
    """The published value of every row."""
    over = np.flatnonzero(shares.over)
    keep = np.empty(len(over), dtype=np.int64)
    for event in np.unique(shares.event[over]):
        mine = shares.event[over] == event
        keep[mine] = _rows_to_keep(shares, event, over[mine], rng)  # 2, 3
    orders = Orders(shares.group[over], shares.event[over], keep)
    shuffled = rng.permutation(table.rows)
    rows = shuffled[np.argsort(groups[shuffled], kind="stable")]
    start = Ragged.of_lengths(shares.size).start
    values = table.by_cell.value.copy()
    known = Values(table.value_event, table.value_rows, shares.m)
    draws = rng.random(int((shares.rows[over] - keep).sum()))
    distort(values, rows, start, orders, known, draws)  # 4
    return values


def _rows_to_keep(shares: _Shares, event: int, over: Ints, rng: np.random.Generator) -> Ints:
    """For each pair of an event above 1/m, the rows that a share drawn from D makes."""
    m = shares.m[event]
    share = np.zeros(len(shares.size))
    held = shares.event == event
    share[shares.group[held]] = shares.rows[held] / shares.size[shares.group[held]]
    others = np.delete(np.arange(len(share)), shares.group[over])
    wanted = min(len(others), math.ceil((m - 1) * len(over)))
    reference = rng.choice(others, wanted, replace=False)
    drawn = rng.choice(share[reference] if wanted else [1 / m], len(over))
    size = shares.size[shares.group[over]]
    most = np.floor(size * SLACK / m)
    kept: Floats = np.minimum(np.rint(drawn * size), most)
    return kept.astype(np.int64)


def _published_m(table: Table, m: Floats) -> float | dict[str, float]:
    """One number where all events have the same m, else m by event."""
    if (m == m[0]).all():
        return float(m[0])
    return {event.label: float(own) for event, own in zip(table.events, m, strict=True)}


def _outcome(before: _Shares, after: _Shares) -> dict[str, Any]:
    unmet = np.unique(after.group[after.over]).tolist()
    guarantee = "each class has at least k rows, and no event more than 1/m of it"
    return {
        "guarantee": guarantee + (", but for the classes listed as unmet" if unmet else ""),
        "classes_distorted": len(np.unique(before.group[before.over])),
        "classes_unmet": unmet,
    }
