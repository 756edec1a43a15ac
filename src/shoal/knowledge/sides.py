"""Both sides of events in one view: who carries them, who does not, and the odds of each class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats
from shoal.data.table import Table
from shoal.knowledge.knowledge import View, event_chances


@dataclass(frozen=True, eq=False)
class Sides:
    """The people of a view's classes: classes x events each."""

    view: View
    chance: Floats
    cases: Floats
    others: Floats

    @classmethod
    def of(cls, view: View, table: Table, events: NDArray[np.int64]) -> Sides:
        classes, at = len(view.distributions), view.index[table.cells.signature]
        cases = _cases(table, at, classes, events)
        people = np.bincount(view.index, table.signature_rows, classes)
        return cls(view, event_chances(view, table, events), cases, people[:, None] - cases)

    @cached_property
    def odds(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(self.chance / (1.0 - self.chance))


def _cases(
    table: Table, at: NDArray[np.integer], classes: int, events: NDArray[np.int64]
) -> Floats:
    _, value, rows = table.cells
    width = len(events)
    if table.several is None:
        place = np.full(len(table.events) + 1, -1)
        place[events] = np.arange(width)
        event = place[table.value_event[value]]
        mine = event >= 0
        key = at[mine].astype(np.int64) * width + event[mine]
        counts = np.bincount(key, rows[mine], classes * width).astype(np.float64)
        return counts.reshape(classes, width)
    cases = np.empty((classes, width))
    for number, one in enumerate(events.tolist()):
        held = np.flatnonzero(table.holds(one)[value])
        cases[:, number] = np.bincount(at[held], rows[held], classes)
    return cases
