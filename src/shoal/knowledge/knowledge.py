"""Knowledge: what the adversary knows, as a distribution per view and signature.

A *view* is a set of QI attributes. In each view the adversary knows the exact distribution of the
sensitive values for every signature (combination of the view's attribute values) that at least
`min_support` rows share; for anybody else they fall back on the whole table's distribution, which
is the knowledge of the empty attribute set. Without such a limit a signature held by one person
would give that person away before anything is published.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from shoal.arrays import Floats, IntArray, Ints, Whole
from shoal.data.spec import InputWarning
from shoal.data.table import Table
from shoal.display import counted
from shoal.errors import InputError, InternalError
from shoal.knowledge.attributes import attribute_sets, signature_keys
from shoal.knowledge.fitted import Fitted
from shoal.memory import allowed_memory, refuse_memory, size_words
from shoal.wording import visible

# Whether what is known fits into memory, said before it is counted.

COPIES = 4
"""How often such an array is held at the same time by whoever judges or searches."""
LARGE = 3
"""Groups of several events hold at most about so many times r people."""
MANY_PLACES = 1 << 26
"""Signatures times views: above this it is worth compiling kernels for smaller numbers."""
MANY_STEPS = 10**10
"""Events times views times people: some seconds for a thousand million."""


def check_size(table: Table, classes: int) -> None:
    """An InputError if the distributions of so many classes, and the chances of the events of every
    signature, need more memory than there is."""
    numbers = classes * len(table.values) + len(table.signatures) * len(table.events)
    _check(
        table,
        8 * COPIES * numbers,
        f"to hold their distributions in {classes:,} strata and chances for "
        f"{len(table.signatures):,} combinations of QI values",
    )


def check_views(table: Table, views: int) -> bool:
    """An InputError if there is no memory for the class of every signature in every view. Whether
    they are so many that they should be kept small."""
    signatures = len(table.signatures)
    refuse_memory(
        np.dtype(np.uint16).itemsize * signatures * views,
        f"To know the stratum of {signatures:,} combinations of QI values in {views:,} views",
        "Drop a QI, or limit the adversary with --max-attributes.",
    )
    return signatures * views > MANY_PLACES


def check_groups(table: Table, groups: int | None = None) -> None:
    """An InputError if to judge every event in every group needs more memory than there is. How
    many groups there will be, nobody knows before: they hold some times r people."""
    if groups is None:
        groups = int(table.carriers / (LARGE * max(1.0, float(table.event_r.min()))))
    _check(table, 8 * 2 * groups * len(table.events), f"to judge them in {groups:,} groups or so")


def warn_of_time(table: Table, views: int) -> None:
    """Warns of events that take long to judge."""
    if len(table.events) * views * table.rows > MANY_STEPS:
        warnings.warn(
            f'"{visible(table.members.name)}" has {len(table.events):,} events: to judge them in '
            f"{views:,} views of {table.rows:,} people takes minutes. {_remedy(table)}",
            InputWarning,
            stacklevel=3,
        )


def _check(table: Table, needed: float, what: str) -> None:
    budget = allowed_memory()
    if needed > budget:
        events = "each an event" if table.spec.protect is None else f"{len(table.events):,} events"
        raise InputError(
            "too-large",
            f'"{visible(table.members.name)}" has {len(table.values):,} values, {events}: {what} '
            f"takes {size_words(needed)} of memory, and {size_words(budget)} may be taken.",
            _remedy(table),
        )


def _remedy(table: Table) -> str:
    return (
        "Name the events with protect, gather values that few people have (--recode "
        f"{visible(table.spec.sensitive_columns[0])}:rare=100), or limit the adversary with "
        "--max-attributes."
    )


OWN = "the table itself"
WEIGHTED = "(weighted)"
"""Stands behind the attributes of a view whose distributions are by survey weights."""
SHOWN_VIEWS = 4
SUM_TOLERANCE = 1e-9
ROUNDING, BELOW_ONE = 1e-9, float(np.nextafter(1.0, 0.0))
RARE = 1e-3
"""A difference from 1 below this has lost digits, which a sum of small numbers has not."""


@dataclass(frozen=True, eq=False)
class View:
    """One distribution over the published values for every signature of a table."""

    attributes: tuple[str, ...]
    """The attributes that the view knows; for a fitted model, its name."""
    index: Whole
    """For each signature of the table, its row in `distributions`."""
    distributions: Floats
    """Row 0 is the fall-back, the whole table's distribution; columns are published values."""
    fitted: Fitted | None = None
    """The model that makes the view. Its people are no class whose cases anybody has counted."""
    people: Ints | None = None
    """How many people each distribution was counted from, if it was."""
    chances: Floats | None = None
    """The chance of each event (columns) where that is what is known, and no distribution."""
    weighted: bool = False
    """Whether distributions are by survey weights: of the population, not of the people here."""

    def __post_init__(self) -> None:
        total = self.distributions.sum(axis=1)
        if self.distributions.min() < 0 or total.max() > 1 + SUM_TOLERANCE:
            raise InternalError(f"the view {self.name} holds something that is no distribution")

    @property
    def name(self) -> str:
        return " + ".join(self.parts) or "(whole table)"

    @property
    def parts(self) -> tuple[str, ...]:
        """The attributes, and whether what is known of them is by survey weights."""
        return (*self.attributes, WEIGHTED) if self.weighted else self.attributes

    @property
    def counted(self) -> bool:
        """Whether it knows classes of the people here, so that their cases can be counted."""
        return self.fitted is None and not self.weighted


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All that one adversary knows of one table: a tuple of views, each judged on its own."""

    views: tuple[View, ...]
    source: str
    """Where it comes from, in words: for certificates and reports."""

    def __repr__(self) -> str:
        names = [view.name for view in self.views[:SHOWN_VIEWS]]
        more = len(self.views) - len(names)
        views = visible("; ".join(names)) + (f" and {more:,} more" if more else "")
        return (
            f"Knowledge: {counted(len(self.views), 'view')}, {views}\n  from {visible(self.source)}"
        )

    @property
    def of_the_table(self) -> bool:
        """Whether what is counted in the table itself is part of it; models may be added to it."""
        return self.source.startswith(OWN)

    def __add__(self, other: Knowledge) -> Knowledge:
        return Knowledge(self.views + other.views, f"{self.source}; {other.source}")

    @property
    def class_views(self) -> tuple[View, ...]:
        """The views that know classes of people, so that their cases can be counted."""
        return tuple(view for view in self.views if view.counted)

    @property
    def models(self) -> tuple[Fitted, ...]:
        """The models among the views."""
        return tuple(view.fitted for view in self.views if view.fitted is not None)

    def largest_chances(self, table: Table) -> Floats:
        """signatures x events: the most that any view says before anything is published."""
        most = np.zeros((len(table.signatures), len(table.events)))
        for view in self.views:
            np.maximum(most, event_chances(view, table)[view.index], out=most)
        return most

    @classmethod
    def of(
        cls, table: Table, given: Knowledge | str | Path | None = None, *, model: Any = None
    ) -> Knowledge:
        """The knowledge that is `given` (by itself, or as a file from outside), or else that which
        the table's spec describes; and what a `model` says, fitted to other people."""
        if model is not None:
            _check_one_column(table, "A model")
            from shoal.knowledge.models import fit_model

            return cls.of(table, given) + fit_model(table, model)
        if isinstance(given, Knowledge):
            return given._checked(table)
        source = given or table.spec.knowledge
        if source is not None:
            _check_one_column(table, "Outside knowledge")
            from shoal.knowledge.outside import read_knowledge

            return read_knowledge(source, table)
        return cls.from_table(table)

    def _checked(self, table: Table) -> Knowledge:
        """Itself, or an InputError if it cannot be of that table."""
        self.check_columns(table)
        shape = (len(table.signatures), len(known_values(table).values))
        if any((len(view.index), view.distributions.shape[1]) != shape for view in self.views):
            raise InputError(
                "knowledge-other",
                "The knowledge was made for a table with other signatures or values.",
                "Make it for this table and its spec.",
            )
        return self

    def check_columns(self, table: Table) -> None:
        """An InputError if there are several sensitive columns and it is not the table's own: what
        is known of each of them is counted in the table."""
        masks = known_values(table)
        for view in self.views if table.several is not None else ():
            own = len(view.index) == len(masks.signatures) and view.fitted is None
            if not own or not np.array_equal(
                seen_in(view, masks).distributions, view.distributions
            ):
                _check_one_column(table, "Knowledge of your own")

    @classmethod
    def from_table(cls, table: Table) -> Knowledge:
        """The worst case: the exact distributions of the table itself; where there are several
        sensitive columns, of their masks, from which those of every event follow. With survey
        weights every view is there twice: as the people here are, and as the population is."""
        table = known_values(table)
        sets, ways = attribute_sets(table), (False,) if table.weights is None else (False, True)
        many = check_views(table, len(sets) * len(ways))
        strata = [(one, found) for one in sets if (found := _strata(table, one, many)) is not None]
        check_size(table, len(ways) * sum(size for _, (_, size) in strata))
        strata = strata or [((), (np.zeros(len(table.signatures), np.int32), 1))]
        views = [
            _counted_view(table, one, index, size, weighted=weighted)
            for weighted in ways
            for one, (index, size) in strata
        ]
        source = f"{OWN}, min_support {table.min_support}"
        weighed = "" if table.weights is None else f', also weighted by "{table.spec.weight}"'
        return cls(tuple(views), source + weighed)

    @classmethod
    def model(
        cls, table: Table, name: str, distributions: Floats, *, fitted: Fitted | None = None
    ) -> Knowledge:
        """A fitted model as one more view: any distribution (row) per signature of the table; in
        `fitted` what is known of how it was made."""
        given = np.asarray(distributions, dtype=np.float64)
        shape = (len(table.signatures), len(table.values))
        if given.shape != shape:
            raise InputError(
                "model-distribution",
                f"The model {name} has shape {given.shape}.",
                f"Give {shape[0]} signatures x {shape[1]} published values.",
            )
        if not (given >= 0).all() or not (given.sum(axis=1) <= 1 + SUM_TOLERANCE).all():
            raise InputError(
                "model-distribution",
                f"A row of the model {name} is no distribution.",
                "Give probabilities from 0 to 1 that add up to at most 1 in each row.",
            )
        rows = np.vstack([table_distribution(table)[None], given])
        index = np.arange(1, len(table.signatures) + 1, dtype=np.int32)
        made = fitted or Fitted(name, None, None, ())
        return cls((View((name,), index, rows, made),), str(made))


def table_distribution(table: Table) -> Floats:
    """The distribution of the published values in the whole table."""
    return table.value_rows / table.rows


def known_values(table: Table) -> Table:
    """The table whose values a view speaks of: itself, or that of the masks."""
    return table if table.several is None else table.several.masks


def seen_in(view: View, table: Table) -> View:
    """The same classes of people, with the distributions of another table of theirs."""
    size = len(view.distributions)
    return _counted_view(
        table, view.attributes, view.index, size, view.fitted, weighted=view.weighted
    )


def _check_one_column(table: Table, what: str) -> None:
    if table.several is not None:
        raise InputError(
            "knowledge-several",
            f"{what} speaks of one sensitive column, and there are {len(table.several.columns)}.",
            "Leave it out, or judge a spec with one of them.",
        )


def event_chances(view: View, table: Table, events: Ints | None = None) -> Floats:
    """A view's distributions added up by event: all of them, or some. All of them are kept, since
    they are asked for again and again: whoever gets them changes nothing in them."""
    several = table.several
    if view.chances is not None:
        return view.chances if events is None else view.chances[:, events]
    if view in _kept and _kept[view][0]() is table:
        return _kept[view][1] if events is None else _kept[view][1][:, events]
    some = np.arange(len(table.events)) if events is None else events
    chances = np.zeros((len(view.distributions), len(some)))
    if several is not None:
        carries = several.mask_carries[:, some]
        for mask in np.flatnonzero(carries.any(axis=1)):
            chances[:, carries[mask]] += view.distributions[:, mask, None]
    else:
        place = np.full(len(table.events) + 1, -1)
        place[some] = np.arange(len(some))
        event = place[table.value_event]
        values = np.flatnonzero(event >= 0)
        if np.bincount(event[values], minlength=1).max() <= 1:  # each event is one value
            chances[:, event[values]] = view.distributions[:, values]
        else:
            for value in values:
                chances[:, event[value]] += view.distributions[:, value]
    if view.people is not None:  # a sum of quotients is one quotient again, to the last bit
        chances = np.rint(chances * view.people[:, None]) / view.people[:, None]
    # 1 says that nothing else is possible: no rounded sum may say it, or fail to.
    rows, columns = np.nonzero(chances > 1.0 - ROUNDING)
    if several is not None:
        outside = ~several.mask_carries.T[some[columns]]
    else:
        outside = table.value_event[None, :] != some[columns][:, None]
    others = ((view.distributions[rows] > 0.0) & outside).any(axis=1)
    chances[rows, columns] = np.where(others, np.minimum(chances[rows, columns], BELOW_ONE), 1.0)
    if events is None:
        _kept[view] = ref(table), chances
    return chances


_kept: WeakKeyDictionary[View, tuple[ref[Table], Floats]] = WeakKeyDictionary()


def with_pool(view: View, table: Table) -> Floats:
    """A view's distributions with one more column: the chance of having no event at all, which is
    that of the value under which those outside every event are pooled.

    It is 1 less the chances of the events: people with the same chances of the events are alike in
    a pooled group, whatever else may be known of them, and alike to the last bit.
    """
    return np.column_stack([view.distributions, _pool(view, table)])


def value_chances(view: View, table: Table, values: IntArray) -> Floats:
    """Those columns of `with_pool`, without the others."""
    pooled = values == len(table.values)
    chances = view.distributions[:, np.where(pooled, 0, values)]
    if pooled.any():
        chances[:, pooled] = _pool(view, table)[:, None]
    return chances


def _pool(view: View, table: Table) -> Floats:
    events = view.distributions[:, table.value_event >= 0].sum(axis=1)
    pool = np.asarray(1.0 - events)
    rare = np.flatnonzero(pool < RARE)
    others = view.distributions[rare][:, table.value_event < 0].sum(axis=1)
    pool[rare] = np.where(events[rare] + others > 1.0 - ROUNDING, others, pool[rare])
    return pool


def _strata(table: Table, attributes: tuple[str, ...], many: bool) -> tuple[Whole, int] | None:
    """The stratum of each signature, 0 for those whom too few share, and one more than there are;
    None if there is none. Where there are `many` numbers to keep, they are small ones."""
    if not attributes:
        return np.zeros(len(table.signatures), np.int32), 1
    group, keys = signature_keys(table, attributes)
    support = np.bincount(group, weights=table.signature_rows, minlength=len(keys))
    known = support >= table.min_support
    if not known.any():
        return None
    size = int(known.sum()) + 1
    narrow = many and size <= 1 << 16
    rank = np.where(known, np.cumsum(known), 0)
    return (rank.astype(np.uint16) if narrow else rank.astype(np.int32))[group], size


def _counted_view(
    table: Table,
    attributes: tuple[str, ...],
    index: Whole,
    size: int,
    fitted: Fitted | None = None,
    *,
    weighted: bool = False,
) -> View:
    counts = count_values(table, index, size, weighted=weighted)
    counts[0] = counts.sum(axis=0)
    people = np.maximum(counts.sum(axis=1), 1)
    own = None if weighted else people.astype(np.int64)  # nobody counts a population here
    return View(attributes, index, counts / people[:, None], fitted, own, weighted=weighted)


def whole_view(table: Table) -> View:
    """The view that knows no attribute, in which everybody has the whole table's distribution."""
    return _counted_view(table, (), np.zeros(len(table.signatures), np.int32), 1)


def count_values(table: Table, index: Whole, size: int, *, weighted: bool = False) -> Floats:
    """How many rows with each published value there are in each class of signatures; or what their
    survey weights add up to, in units."""
    signature, value, rows = table.cells
    if weighted:
        assert table.weights is not None
        signature, member, _ = table.member_cells
        value, rows = table.member_value[member], table.weights
    width = len(table.values)
    key = index[signature].astype(np.int64) * width + value
    counts = np.bincount(key, weights=rows, minlength=size * width)
    return counts.astype(np.float64, copy=False).reshape(size, width)
