"""Which settings are worth a run, for a table whose own may not hold: fewer or coarser columns, a
smaller r, the limit prior, a less informed adversary.

Nothing here is a promise. In each view carriers ask for partners and the others offer themselves
(supply.py); the *slack* of a setting is offer over demand where that is least. Below 1 no groups of
one carrier each exist; well above 1 a search is likely to succeed. A view knows nothing of columns
outside it, so that one count of all views serves every choice of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, isfinite, log10, prod

import numpy as np
import polars as pl

from shoal.arrays import Floats
from shoal.data.spec import Event, Limit, Recipe, Spec, support_for
from shoal.data.table import Column, Table
from shoal.data.table.hierarchy import Hierarchy
from shoal.data.table.survey import UNITS
from shoal.errors import InputError
from shoal.knowledge import Knowledge, Sides
from shoal.planning.supply import total_odds

# Which changes of a table's QIs are worth a try, and the table that each would make.
#
# Only QIs of the tightest views are tried: no other can raise the largest r. The table is recoded
# by its cells, whose values are those that it was coded with.

FEW_VALUES = 8
"""Numbers with fewer values than these are left as they are."""
PARTS = (8, 4)
"""About how many bands numbers are cut into."""


def few_events(table: Table, events: Sequence[int]) -> Table:
    """The same people, counted, with these events only: all other values are one, whose number
    makes no difference to what is possible for these. What was recoded stays so."""
    spec = table.spec.with_(recode=(), k=None)
    if table.several is None:
        spec = spec.with_(protect=[table.events[event] for event in events])
    return Table.from_cells(cells_of(table, events), spec, rows=ROWS)


def without_each(table: Table) -> Iterator[Table]:
    """The table without each of its QIs."""
    cells = cells_of(table, range(len(table.events)))
    for name in table.spec.qi:
        yield Table.from_cells(cells, _without(table.spec, [name]), rows=ROWS)


def recodings(table: Table, attributes: Iterable[str]) -> Iterator[tuple[str, Table]]:
    """Recodings of these QIs, as the command line writes them, each with the table it makes."""
    banded = {name for name, _ in table.spec.bands}
    cells = cells_of(table, range(len(table.events)))
    for place, column in enumerate(table.qi):
        if column.name not in set(attributes) - banded:
            continue
        for text, recipe in recipes_for(table, column, place):
            spec = table.spec.with_(recode={column.name: recipe})
            yield f"recode {column.name}:{text}", Table.from_cells(cells, spec, rows=ROWS)


def coarser(
    table: Table, step: int, done: Collection[str], hierarchies: Mapping[str, tuple[str, Hierarchy]]
) -> dict[str, Recipe]:
    """A recipe for each QI that can be made coarser, but where that is done, at the first or second
    step: a level of its hierarchy, wider bands of numbers, rare values gathered."""
    recipes: dict[str, Recipe] = {}
    for place, column in enumerate(table.qi):
        if column.name in done:
            continue
        if column.name in hierarchies:
            file, tree = hierarchies[column.name]
            height = tree.bind(dict.fromkeys(column.values)).height
            if height > 1:
                level = min(step + 1, height - 1)
                recipes[column.name] = Recipe(hierarchy=file, level=level)
            continue
        mine = [recipe for _, recipe in recipes_for(table, column, place)]
        if mine:
            recipes[column.name] = mine[min(step, len(mine) - 1)]
    return recipes


ROWS = "\0rows"
ELSE = "\0else"


def cells_of(table: Table, events: Sequence[int] | None = None) -> pl.DataFrame:
    """The table's cells with their values; all sensitive ones, or those of some events only."""
    signature, member, rows = table.member_cells
    columns = {
        column.name: column.values[table.signatures[signature, place]]
        for place, column in enumerate(table.qi)
    }
    if table.several is None and events is None:
        columns[table.members.name] = table.members.values[member]
    elif table.several is None:
        assert events is not None
        mine = np.isin(table.value_event[table.member_value], events)
        labels = pl.Series(table.members.labels, dtype=pl.String)
        columns[table.members.name] = labels.set(pl.Series(~mine), ELSE)[member]
    else:
        codes = table.several.member_codes[member]
        for place, one in enumerate(table.several.columns):
            columns[one.members.name] = one.members.values[codes[:, place]]
    if table.weights is not None and table.spec.weight not in table.spec.qi:
        columns[str(table.spec.weight)] = pl.Series(table.weights / (rows * UNITS))
    counted = pl.DataFrame({**columns, ROWS: rows})
    return counted.group_by(list(columns), maintain_order=True).agg(pl.col(ROWS).sum())


def recipes_for(table: Table, column: Column, place: int) -> Iterator[tuple[str, Recipe]]:
    """Recodings of one QI that are worth a try, as the command line writes them."""
    if column.numeric:
        numbers = [float(one) for one in column.values.drop_nulls() if isfinite(one)]
        if len(numbers) < FEW_VALUES or len(numbers) < len(column.values.drop_nulls()):
            return
        widths = {round_width((max(numbers) - min(numbers)) / parts) for parts in PARTS}
        for width in sorted(widths):
            yield f"bands={width:g}", Recipe(bands=width)
        return
    rows = table.qi_rows(place)
    least = table.min_support
    if least > 1 and 1 < (rows < least).sum() < len(column):
        yield f"rare={least}", Recipe(rare=least)


def round_width(wide: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** ceil(log10(wide) - 1)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= wide)


SMALLER_R = (2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0)
SUPPORTS = (100, 300, 1000)
PRIOR_COSTS, SUPPORT_COSTS = 0.5, 0.5
"""How far the limit prior is from an absolute one, and ten times the min_support from what was
asked, on the scale of `Setting.distance`."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What could be asked instead."""

    spec: Spec
    """As a spec file says it."""
    changes: tuple[str, ...]
    """In words; none: as it was asked."""
    kind: tuple[str, ...]
    """What was changed: columns, r, limit, min_support."""
    slack: float
    detail_lost: float
    """The share of the QIs' detail (entropy, the mean over the QIs asked for, by their importance)
    that is given up."""
    distance: float
    """From what was asked: by how much the detail asked for is more than what is kept (half of it
    kept: 1), the same for r, and what another limit and min_support count for."""
    cost: float
    """About how large its search is: combinations of QI values times views."""
    make: Callable[[], Table]
    """The table, from the cells of the one that was asked for."""


@dataclass(frozen=True, eq=False)
class _Base:
    """A table with all its columns, and what each choice of them would allow."""

    table: Table
    spec: Spec
    words: Mapping[str, str]
    """By column, how it was made coarser."""
    kept: Floats
    """By column: the share of its detail that is left, times its part of all importance."""
    cells: pl.DataFrame


def settings(
    table: Table,
    asked: Spec,
    hierarchies: Mapping[str, tuple[str, Hierarchy]] | None = None,
    importance: Mapping[str, float] | None = None,
) -> Iterator[list[Setting]]:
    """Settings, as one way after another to count the table is looked at; `asked` is the table's
    spec as it was given, and `hierarchies` have the file that each was read from. Where QIs are of
    unlike `importance` (1 unless said), the less important are made coarser without the others."""
    cells, done = cells_of(table), {name for name, _ in asked.recode}
    table = Table.from_cells(cells, table.spec.unnamed(recode=(), k=None), rows=ROWS)
    weights = np.array([(importance or {}).get(column.name, 1.0) for column in table.qi])
    whole = weights / weights.sum()
    yield _of_base(_Base(table, asked, {}, whole, cells), asked)
    if asked.knowledge is not None:
        return
    for support in SUPPORTS:
        if support > table.min_support:
            other = Table.from_cells(cells, table.spec.with_(min_support=support), rows=ROWS)
            spec = asked.with_(min_support=support)
            yield _of_base(_Base(other, spec, {}, whole, cells), asked)
    if asked.views is not None:
        return
    seen: list[Mapping[str, Recipe]] = [{}]
    for step, most in product((0, 1), sorted({*weights.tolist()})):
        may = {column.name for column, one in zip(table.qi, weights, strict=True) if one <= most}
        every = coarser(table, step, done, hierarchies or {})
        recipes = {name: recipe for name, recipe in every.items() if name in may}
        if recipes in seen:
            continue
        seen.append(recipes)
        coarse = Table.from_cells(
            cells, table.spec.with_(recode=recipes, **_fewer(table.spec, recipes)), rows=ROWS
        )
        kept = np.array(
            [detail(coarse, i) / max(1e-12, detail(table, i)) for i in range(len(table.qi))]
        )
        spec = asked.with_(recode=(*asked.recode, *recipes.items()), **_fewer(asked, recipes))
        words = {name: _recipe_words(name, recipe) for name, recipe in recipes.items()}
        yield _of_base(_Base(coarse, spec, words, whole * np.minimum(1.0, kept), cells), asked)


def _fewer(spec: Spec, recoded: Mapping[str, Recipe]) -> dict[str, tuple[tuple[str, float], ...]]:
    """Columns in bands are no numbers any more: nobody knows these in other bands."""
    return {"bands": tuple(band for band in spec.bands if band[0] not in recoded)}


def _recipe_words(name: str, recipe: Recipe) -> str:
    parts = (
        f"{name}:{key}={value:g}" if isinstance(value, float) else f"{name}:{key}={value}"
        for key, value in recipe.to_mapping().items()
    )
    return f"recode {' '.join(parts)}"


def _of_base(base: _Base, asked: Spec) -> list[Setting]:
    table = base.table
    try:
        known = Knowledge.of(table)
    except InputError as error:
        if error.code != "qi-rare":
            raise
        return []  # with that min_support a QI would be in no view
    most = float(table.event_r.max())
    tried = [most, *sorted((r for r in SMALLER_R if r < most), reverse=True)]
    limits: tuple[Limit, ...] = ("prior",) if asked.limit == "prior" else ("absolute", "prior")
    slack = _slacks(table, known, tried, limits)
    may_drop = asked.views is None and asked.knowledge is None
    found = []
    for place, r in enumerate(tried):
        for limit in limits[: 1 if base.spec.min_support != asked.min_support else None]:
            reached = slack[limit][place]
            for mask in _frontier(reached, base.kept) if may_drop else [len(reached) - 1]:
                found.append(
                    _setting(
                        base, asked, mask, None if place == 0 else r, limit, float(reached[mask])
                    )
                )
    return found


def _setting(
    base: _Base, asked: Spec, mask: int, r: float | None, limit: Limit, slack: float
) -> Setting:
    names = [name for place, name in enumerate(asked.qi) if mask >> place & 1]
    dropped = [name for name in asked.qi if name not in names]

    def changed(spec: Spec) -> Spec:
        spec = _without(spec, dropped) if dropped else spec
        return (spec if r is None else at_most(spec, r)).with_(limit=limit)

    spec, mine = changed(base.spec), changed(base.table.spec)
    words = {
        "columns": [
            *(f"without {name}" for name in dropped),
            *(base.words[name] for name in names if name in base.words),
        ],
        "r": [] if r is None else [f"r {r:g}"],
        "limit": [f"limit {limit}"] if limit != asked.limit else [],
        "min_support": [f"min_support {spec.min_support}"]
        if spec.min_support != asked.min_support
        else [],
    }
    kept = sum(base.kept[place] for place in range(len(asked.qi)) if mask >> place & 1)
    lost = 1.0 - float(kept) if dropped or words["columns"] else 0.0
    most = max(asked.r, *(event.r or 0.0 for event in asked.protect or ()), 0.0)
    distance = lost / max(1e-9, 1.0 - lost) + (0.0 if r is None else most / r - 1.0)
    distance += PRIOR_COSTS * bool(words["limit"])
    usual = asked.min_support or support_for(base.table.rows)
    distance += SUPPORT_COSTS * log10(base.table.min_support / usual)
    return Setting(
        spec,
        tuple(word for part in words.values() for word in part),
        tuple(name for name, part in words.items() if part),
        slack,
        lost,
        distance,
        _cost(base.table, names),
        lambda: Table.from_cells(base.cells, mine, rows=ROWS),
    )


def _cost(table: Table, names: Sequence[str]) -> float:
    sizes = [len(column) for column in table.qi if column.name in names]
    return min(float(len(table.signatures)), prod(map(float, sizes))) * 2.0 ** len(sizes)


def _without(spec: Spec, dropped: Sequence[str]) -> Spec:
    return spec.with_(
        qi=[name for name in spec.qi if name not in dropped],
        bands=[band for band in spec.bands if band[0] not in dropped],
        recode=[pair for pair in spec.recode if pair[0] not in dropped],
        rare_unknown=[name for name in spec.rare_unknown if name not in dropped],
    )


def at_most(spec: Spec, r: float) -> Spec:
    """The spec with no r above this one."""
    events: list[Event] | None = None
    if spec.protect is not None:
        events = [replace(one, r=one.r and min(one.r, r)) for one in spec.protect]
    return spec.with_(r=min(spec.r, r), protect=events)


def _slacks(
    table: Table, known: Knowledge, tried: Sequence[float], limits: Sequence[Limit]
) -> dict[Limit, list[Floats]]:
    """By limit and r: the slack of each choice of QIs, a number whose bits are QIs."""
    bit = {name: 1 << place for place, name in enumerate(table.spec.qi)}
    events = np.arange(len(table.events))
    count = table.event_rows.astype(np.float64)
    slack: dict[Limit, list[Floats]] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        everybody = (table.rows - count) / count
        for limit in limits:
            slack[limit] = []
            for most in tried:
                wanted = np.minimum(table.event_r, most) - 1.0
                least = np.full(1 << len(bit), np.inf)
                least[0] = min(
                    everybody / np.minimum(wanted, np.inf if limit == "absolute" else everybody)
                )
                slack[limit].append(least)
        for view in known.views:
            sides = Sides.of(view, table, events)
            offered = total_odds(sides.others, sides.odds)
            mask = sum(
                bit[name if name in bit else name.rpartition("/")[0]] for name in view.attributes
            )
            for limit in limits:
                for place, most in enumerate(tried):
                    asks = (np.minimum(table.event_r, most) - 1.0) * sides.odds
                    asks = np.minimum(asks, 1.0) if limit == "prior" else asks
                    ratio = np.nan_to_num(
                        offered / total_odds(sides.cases, asks), nan=0.0, posinf=np.inf
                    )
                    least = slack[limit][place]
                    least[mask] = min(least[mask], ratio.min())
    for several in slack.values():
        for least in several:
            for one in bit.values():  # the least over all parts of each choice
                pairs = least.reshape(-1, 2, one)
                np.minimum(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
    return slack


def _frontier(slack: Floats, kept: Floats) -> list[int]:
    """Choices of QIs that no other beats in both detail and slack, finest first."""
    detail = np.zeros(len(slack))
    for place, share in enumerate(kept):
        detail.reshape(-1, 2, 1 << place)[:, 1] += share
    best, chosen = -1.0, []
    for mask in np.lexsort((-slack, -detail))[: len(slack)].tolist():
        if mask and slack[mask] > best:
            best = float(slack[mask])
            chosen.append(mask)
    return chosen


def detail(table: Table, place: int) -> float:
    """How much a QI tells of a person: the entropy of its values."""
    rows = table.qi_rows(place)
    share = rows[rows > 0] / table.rows
    return float(-(share * np.log(share)).sum())
