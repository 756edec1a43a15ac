"""Which changes of a table's QIs are worth a try, and the table that each would make.

Only QIs of the tightest views are tried: no other can raise the largest r. The table is recoded by
its cells, whose values are those that it was coded with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import ceil, isfinite, log10

import numpy as np
import polars as pl

from shoal.data.spec import Recipe
from shoal.data.table import Column, Table
from shoal.data.table.hierarchy import Hierarchy
from shoal.data.table.survey import UNITS

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


def without_each(table: Table) -> Iterator[tuple[str, Table]]:
    """The table without each of its QIs."""
    spec, cells = table.spec, cells_of(table, range(len(table.events)))
    for name in spec.qi:
        rest = spec.with_(
            qi=[one for one in spec.qi if one != name],
            bands=[band for band in spec.bands if band[0] != name],
            rare_unknown=[one for one in spec.rare_unknown if one != name],
        )
        yield f"drop {name}", Table.from_cells(cells, rest, rows=ROWS)


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
    table: Table,
    step: int,
    done: Collection[str],
    hierarchies: Mapping[str, tuple[str, Hierarchy]],
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
        widths = {_round_width((max(numbers) - min(numbers)) / parts) for parts in PARTS}
        for width in sorted(widths):
            yield f"bands={width:g}", Recipe(bands=width)
        return
    rows = table.qi_rows(place)
    least = table.min_support
    if least > 1 and 1 < (rows < least).sum() < len(column):
        yield f"rare={least}", Recipe(rare=least)


def _round_width(wide: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** ceil(log10(wide) - 1)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= wide)
