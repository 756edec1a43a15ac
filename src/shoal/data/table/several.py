"""Several sensitive columns: published together, read one by one and all at once.

A published value is then a *combination*, one value of each column, and a person may carry several
events. Whoever judges such a table reads it in *aspects*, each of them an ordinary table of the
same people with at most one event per value:
- one column alone, for whoever knows its distribution;
- all columns together, for whoever knows their joint distribution, one event at a time.

Groups may be *pooled*: then all that is no event is published as "(other)", a case's other
columns too. What is left of a combination is its *mask*: the values with an event that it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.arrays import Bools, IntArray

if TYPE_CHECKING:
    from shoal.data.table.table import Table


@dataclass(frozen=True, eq=False)
class Aspect:
    """One way to read several columns."""

    column: str | None
    """The column that is read alone; None for all together."""
    table: Table
    value: IntArray
    """For each published value, and last for the pooled one: what it is in that table."""
    events: tuple[int, ...]
    """For each event of that table: which of all events it is."""


@dataclass(frozen=True, eq=False)
class Several:
    """What the values of a table with several sensitive columns are made of. Published values are
    the combinations that occur, and behind them the masks with an event; arrays by value have one
    more entry, for the pooled value, which is the mask without any event."""

    columns: tuple[Table, ...]
    """Each column alone, with its part of the events."""
    combinations: int
    """How many of the values are combinations, the first."""
    codes: IntArray
    """Of each value: its parts, in the columns' own codes, with one more for the pooled value."""
    member_codes: IntArray
    """members x columns: the values as they stand in each column."""
    parts: tuple[tuple[str, ...], ...]
    """Of each value: what each column shows."""
    masked: IntArray
    """What each value is published as in a pooled group."""
    carries: Bools
    """values x events."""
    mask: IntArray
    """Of each value: its mask."""
    masks: Table
    """The same people with masks for values. Each mask with an event is an event of its own, as
    strict as the strictest that it holds."""
    mask_codes: IntArray
    """masks x columns: the value in each column's own table, or its pooled one."""
    mask_carries: Bools
    """masks x events."""
    aspects: tuple[Aspect, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(table.members.name for table in self.columns)
