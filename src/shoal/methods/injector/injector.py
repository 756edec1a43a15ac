"""Injector: bucketization that takes into account what people with such QIs never have.

A bucket protects less than it seems to if the adversary knows that some of its rows cannot have
some of its values ("men have no ovarian cancer"). Such knowledge shows in the table itself, as
rules X => not s between QI values X and an event s. Injector mines them, and builds buckets in
which every row can still have at least l of the values.

Li, Li: "Injector: Mining Background Knowledge for Data Anonymization", ICDE 2008.

1. Refuse the table if an event has more than n/l rows.
2. Mine the negative rules; they give every row its set of impossible events.
3. Sort the rows into kinds: same event, same impossible events. Two kinds are incompatible if the
   event of one is impossible for the other.
4. Take the kinds by the number of rows that they are incompatible with, largest first. Start a
   bucket with a row of that kind, and add rows that are compatible with all in it, no event twice,
   to size l. Rows for which that fails are left over.
5. Add each row left over to a bucket that it is compatible with, else to one that stays fine: the
   adversary's graph of the bucket (an edge where a row can have a value) has perfect matchings,
   and these give every row at least l values, and every event to at least l rows.
6. Suppress what is still left, and count it.

Symbols: n rows, l the values that each row can have; min_conf and min_exp, the limits of rules, are
explained in negative_rules.py.

Departures from the paper. Its parameters are known; the algorithm is a reconstruction.
- "Sensitive values" are the protected events, and only they are in rules. The values of rows
  without an event need no protection and conflict with nothing: in the graph each such value is a
  vertex of its own that every row can have, and counts as one of the l, also where two bear the
  same name. With one event, a bucket of step 4 is thus one row that has it and l-1 that could, as
  in Anatomy but with the rules obeyed; rows that cannot have it make buckets of their own. If every
  value is an event, nothing is changed.
- No event twice in a bucket, as in Anatomy; the paper only counts distinct values.
- "Every event to at least l rows" in step 5 is added. In the buckets of step 4 it follows, since
  everybody can have everything. Without it a row with an event could join l rows of which only one
  could have that event, and would be found by tossing a coin.
- What a bucket takes next in step 4: an event that would otherwise become too frequent among the
  rows left (more than one in l), else a row without an event, else the most frequent event; of each
  the kind that is incompatible with most. On a dead end the bucket is tried once more, with kinds
  that are incompatible with fewest. Incompatible rows are counted once, in the whole table.
- With min_conf below 1 a rule can speak against a row that it is about. Such a row cannot have its
  own value in the adversary's graph; step 4 leaves it out, and step 5 judges the graph as it is.
- Where rows left over and buckets are many, step 5 does not try each with each: see TRIES. It
  tests only buckets where enough edges are there at all; if no row contradicts a rule that is
  enough, since the first l rows of a bucket tie everything together, and the test confirms it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from shoal.arrays import Bools, IntArray, Ints, Words
from shoal.data.spec import checked_whole
from shoal.data.table import Table, factorize
from shoal.errors import InputError
from shoal.groups import SUPPRESSED, Grouping, Progress, silent
from shoal.groups.ragged import Ragged
from shoal.methods.injector.kernels.injection import Kinds, count_incompatible, fill_buckets
from shoal.methods.injector.kernels.joining import (
    Buckets,
    attach,
    join_compatible,
    members,
    propose,
)
from shoal.methods.injector.negative_rules import mine
from shoal.methods.parameters import check_eligible, share, whole

# Kinds of rows: same event, same impossible events. To Injector such rows are interchangeable.
#
# Two kinds are incompatible if the event of one is impossible for the other.


@dataclass(frozen=True, eq=False)
class SortedRows:
    """The rows by kind."""

    kinds: Kinds
    kind: Ints
    """The kind of each row."""
    sizes: Ints
    rows: Ints
    """All rows by kind, in random order inside each."""
    denied: Bools
    """kinds x events, and a last column for none: what is impossible."""
    incompatible: Ints
    """With how many rows each kind is incompatible."""

    @classmethod
    def of(cls, table: Table, impossible: Bools, rng: np.random.Generator) -> SortedRows:
        events = len(table.events)
        profile, example = _profiles(_masks(impossible))
        own = np.where(table.by_cell.event < 0, events, table.by_cell.event).astype(np.int32)
        kind, keys = factorize([profile[table.by_cell.signature], own], [len(example), events + 1])
        event = (keys % (events + 1)).astype(np.int64)
        denied = np.zeros((len(keys), events + 1), dtype=bool)
        denied[:, :events] = impossible[example[(keys // (events + 1)).astype(np.int64)]]
        sizes = np.bincount(kind)
        shuffled = rng.permutation(table.rows)
        rows = shuffled[np.argsort(kind[shuffled], kind="stable")]
        kinds = Kinds(event, _masks(denied), events)
        incompatible = count_incompatible(sizes, event, denied)
        return cls(kinds, kind.astype(np.int64), sizes, rows, denied, incompatible)

    @property
    def order(self) -> Ints:
        """The kinds, those first that are incompatible with most rows."""
        return np.argsort(-self.incompatible, kind="stable")

    @property
    def contrary(self) -> Bools:
        """Kinds whose own event is impossible for them."""
        return self.denied[np.arange(len(self.sizes)), self.kinds.event]


def _profiles(masks: Words) -> tuple[IntArray, Ints]:
    """The distinct masks: that of each row, and for each of them a row that has it."""
    profile, count = np.zeros(len(masks), dtype=np.int32), 1
    for word in masks.T:
        values, code = np.unique(word, return_inverse=True)
        profile, keys = factorize([profile, code.astype(np.int32)], [count, len(values)])
        count = len(keys)
    example = np.empty(count, dtype=np.int64)
    example[profile] = np.arange(len(masks))
    return profile, example


def _masks(denied: Bools) -> Words:
    words = -(-denied.shape[1] // 64)
    wide = np.zeros((len(denied), words * 64), dtype=bool)
    wide[:, : denied.shape[1]] = denied
    return np.packbits(wide, axis=1, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)


# Which edges of a bipartite graph lie in a perfect matching, for all edges at once.
#
# Given one perfect matching M, an edge (i, j) lies in some perfect matching exactly if it is in
# M, or on a cycle that alternates between M and other edges. Lead an arc from i to the partner in
# M of each of its neighbours: alternating cycles become directed cycles, so (i, j) qualifies
# exactly if i and the partner of j are in one strongly connected component. M by Hopcroft and
# Karp.


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


TRIES = 20_000_000
"""How many (row, bucket) pairs step 5 looks at, in all; at least 100 buckets for each row."""
ROUNDS = 200
"""How often step 5 tests a proposed bucket for each row."""
BATCH = 10_000
"""Buckets tested at once."""


@dataclass(frozen=True)
class Injector:
    """Buckets in which every row can have at least l values, by all that the table itself tells."""

    name: ClassVar[str] = "injector"

    l: int | None = None  # noqa: E741
    """Values that each row can have; None means the spec's r, rounded up."""
    min_conf: float = 1.0
    """The confidence that a negative rule must have, above 0 and up to 1."""
    min_exp: float = 0.9
    """How likely an exception must have been if the rule were chance, 0 to 1."""
    max_rule_attributes: int | None = None
    """The largest number of QIs in a rule; None means all of them."""

    def __post_init__(self) -> None:
        share("min_conf", self.min_conf)
        share("min_exp", self.min_exp)
        if self.min_conf == 0:
            raise InputError("share", "min_conf is 0.", "Give a number above 0 and up to 1.")
        if self.max_rule_attributes is not None:
            checked_whole("max_rule_attributes", self.max_rule_attributes)

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        """Buckets of the table's rows; an InputError if an event is too frequent for l."""
        diversity = whole("l", self.l, table)
        rng = np.random.default_rng(seed)
        check_eligible(table, diversity)  # 1
        rules = mine(  # 2
            table,
            min_conf=self.min_conf,
            min_exp=self.min_exp,
            max_attributes=self.max_rule_attributes,
            progress=progress,
        )
        sorted_rows = SortedRows.of(table, rules.impossible, rng)  # 3
        progress("buckets", 0, table.rows)
        buckets, left = _fill(sorted_rows, diversity)  # 4
        progress("buckets", table.rows - len(left), table.rows)
        _place(left, buckets, sorted_rows, l=diversity, rng=rng, progress=progress)  # 5
        groups = _numbered(buckets, rng)  # 6
        claims: dict[str, Any] = {
            "l": diversity,
            "guarantee": f"by the rules found, each row of a group can have {diversity} or more of "
            f"its values, and each event can be that of {diversity} or more rows",
            "min_conf": float(self.min_conf),
            "min_exp": float(self.min_exp),
            "rules": rules.count,
            "left_over": len(left),
            "suppressed": int((groups == SUPPRESSED).sum()),
        }
        return Grouping.of_people(table, groups, claims=claims)


def _fill(sorted_rows: SortedRows, l: int) -> tuple[Buckets, Ints]:  # noqa: E741
    """Buckets of l compatible rows, and the rows that are left over."""
    kinds, sizes, rows = sorted_rows.kinds, sorted_rows.sizes, sorted_rows.rows
    usable = np.where(sorted_rows.contrary, 0, sizes)
    filled = fill_buckets(usable, kinds, sorted_rows.order, l)
    used = np.bincount(filled, minlength=len(sizes))
    by_kind = np.argsort(filled, kind="stable")
    turn, first = Ragged.of_lengths(used), Ragged.of_lengths(sizes).start[:-1]
    chosen = np.empty(len(filled), dtype=np.int64)
    chosen[by_kind] = rows[turn.spread(first) + turn.nth]
    count, words = len(filled) // l, kinds.denied.shape[1]
    buckets = Buckets(
        head=np.full(count, -1),
        after=np.full(len(rows), -1),
        held=np.zeros((count, words), dtype=np.uint64),
        barred=np.zeros((count, words), dtype=np.uint64),
    )
    attach(chosen, np.repeat(np.arange(count), l), sorted_rows.kind, kinds, buckets)
    free = np.ones(len(rows), dtype=bool)
    free[chosen] = False
    return buckets, rows[free[rows]]


def _place(
    left: Ints,
    buckets: Buckets,
    sorted_rows: SortedRows,
    *,
    l: int,  # noqa: E741
    rng: np.random.Generator,
    progress: Progress,
) -> None:
    """Adds rows that are left over to buckets, where one stays fine with them."""
    kind, kinds = sorted_rows.kind, sorted_rows.kinds
    if not len(left) or not len(buckets.head):
        return
    tries = max(100, TRIES // len(left))
    rank = np.argsort(sorted_rows.order)
    rows = left[np.argsort(rank[kind[left]], kind="stable")]
    starts = rng.integers(len(buckets.head), size=len(rows))
    joined = join_compatible(rows, starts, tries, kind, kinds, buckets)
    rows, starts = rows[~joined], starts[~joined]
    seen = np.zeros(len(rows), dtype=np.int64)
    for turn in range(ROUNDS):
        progress("rows left over", turn, ROUNDS)
        proposed = propose(rows, starts, seen, tries, kind, kinds, buckets, l)
        asked = np.flatnonzero(proposed >= 0)
        if not len(asked):
            return
        taken = np.concatenate(
            [
                part[_stay_fine(rows[part], proposed[part], buckets, sorted_rows, l)]
                for part in np.split(asked, range(BATCH, len(asked), BATCH))
            ]
        )
        attach(rows[taken], proposed[taken], kind, kinds, buckets)
        waiting = proposed != -1
        waiting[taken] = False
        rows, starts, seen = rows[waiting], starts[waiting], seen[waiting]


def _stay_fine(
    added: Ints,
    chosen: Ints,
    buckets: Buckets,
    sorted_rows: SortedRows,
    l: int,  # noqa: E741
) -> Bools:
    """For each bucket whether it is fine with the row added to it: the matching test."""
    present, counts = members(chosen, buckets)
    block = np.concatenate([np.repeat(np.arange(len(chosen)), counts), np.arange(len(chosen))])
    by_block = np.argsort(block, kind="stable")
    block = block[by_block]
    kind = sorted_rows.kind[np.concatenate([present, added])[by_block]]
    event = sorted_rows.kinds.event[kind]
    row, value = Ragged.of_lengths(counts + 1).entries(block)
    possible = ~sorted_rows.denied[kind[row], event[value]]
    row, value = row[possible], value[possible]
    given = in_perfect_matching(row, value, block)
    values_of_row = np.bincount(row[given], minlength=len(block))
    rows_of_value = np.bincount(value[given], minlength=len(block))
    short = (values_of_row < l) | ((rows_of_value < l) & (event < sorted_rows.kinds.E))
    fine: Bools = np.bincount(block[short], minlength=len(chosen)) == 0
    return fine


def _numbered(buckets: Buckets, rng: np.random.Generator) -> IntArray:
    """The bucket of each row; numbers carry no order. Rows in no bucket are suppressed."""
    count = len(buckets.head)
    rows, sizes = members(np.arange(count), buckets)
    groups = np.full(len(buckets.after), SUPPRESSED, dtype=np.int32)
    groups[rows] = np.repeat(rng.permutation(count), sizes)
    return groups
