"""Which settings are worth a run, for a table whose own may not hold: fewer or coarser columns, a
smaller r, the limit prior, a less informed adversary.

Nothing here is a promise. In each view carriers ask for partners and the others offer themselves
(supply.py); the *slack* of a setting is offer over demand where that is least. Below 1 no groups of
one carrier each exist; well above 1 a search is likely to succeed. A view knows nothing of columns
outside it, so that one count of all views serves every choice of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import log10, prod
from typing import Any

import numpy as np
import polars as pl

from shoal.arrays import Floats
from shoal.data.spec import Event, Limit, Recipe, Spec, support_for
from shoal.data.table import Table
from shoal.data.table.hierarchy import Hierarchy
from shoal.errors import InputError
from shoal.knowledge import Knowledge, Sides
from shoal.planning.recodings import ROWS, cells_of, coarser
from shoal.planning.supply import total_odds

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
    made: dict[str, Any] = {
        "recode": (),
        "identifiers": (),
        "k": None,
        "person": None,
        "rows_per_person": "all",
    }
    table = Table.from_cells(cells, table.spec.with_(**made), rows=ROWS)
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
