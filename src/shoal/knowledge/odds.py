"""Odds: how much likelier a person is to carry an event value than to hold another value.

In a group of one event value x and otherwise one value y, whoever reads the group weighs its people
by such odds and by nothing else. Which odds, depends on the reader: the *joint* one compares x with
y, the *binary* one the event with everything else.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from shoal.arrays import Floats, IntArray
from shoal.data.table import Table
from shoal.errors import InputError, unknown
from shoal.knowledge.knowledge import View, event_chances, value_chances


def against(chance: Floats, others: Floats) -> Floats:
    """The odds of a value against each of some others."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(chance[:, None] / others)


def against_all_else(chance: Floats, width: int) -> Floats:
    """The odds of an event against its not being so, `width` times."""
    with np.errstate(divide="ignore"):
        return np.repeat((chance / (1.0 - chance))[:, None], width, axis=1)


class Reader(Protocol):
    """Somebody who reads groups, as far as a search needs to know them."""

    @property
    def name(self) -> str: ...

    def odds(self, view: View, table: Table, x: int, y: IntArray) -> Floats:
        """distributions x len(y): the odds of the event value x against each of the values y
        (`len(table.values)`: the pooled value)."""
        ...


class JointReader:
    """Weighs every published value."""

    name = "joint"

    def odds(self, view: View, table: Table, x: int, y: IntArray) -> Floats:
        return against(view.distributions[:, x], value_chances(view, table, y))


class BinaryReader:
    """Tells an event from everything else."""

    name = "binary"

    def odds(self, view: View, table: Table, x: int, y: IntArray) -> Floats:
        chance = event_chances(view, table)[:, table.value_event[x]]
        return against_all_else(chance, len(y))


READERS: dict[str, Reader] = {"joint": JointReader(), "binary": BinaryReader()}


def as_readers(given: tuple[str | Reader, ...]) -> tuple[Reader, ...]:
    """Readers by their names, or as they are."""
    if not given:
        raise InputError("reader", "No adversary is given.", f"Choose among: {', '.join(READERS)}.")
    for one in given:
        if isinstance(one, str) and one not in READERS:
            raise unknown("reader", f'There is no adversary "{one}"', one, READERS)
    return tuple(READERS[one] if isinstance(one, str) else one for one in given)
