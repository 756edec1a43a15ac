"""Parameters that several anonymizers share: their checks, and what the spec's r makes of them."""

from __future__ import annotations

import math

from shoal.errors import InputError
from shoal.table import Table


def whole(name: str, value: int | None, table: Table, *, least: int = 2) -> int:
    """The parameter as given, or for None the table's largest r, rounded up."""
    if value is None:
        return math.ceil(float(table.event_r.max()))
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        problem = f"{name} is {value!r}."
        raise InputError("whole-number", problem, f"Give a whole number of at least {least}.")
    return value
