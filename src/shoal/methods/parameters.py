"""Parameters that several anonymizers share: what the spec's r makes of them, and whether they can
hold for a table."""

from __future__ import annotations

import math

from shoal.data.table import Table
from shoal.errors import InputError
from shoal.wording import plain_percent


def whole(name: str, value: int | None, table: Table, *, least: int = 2) -> int:
    """The parameter as given, or for None the table's largest r, rounded up."""
    if value is None:
        return math.ceil(float(table.event_r.max()))
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        problem = f"{name} is {value!r}."
        raise InputError("whole-number", problem, f"Give a whole number of at least {least}.")
    return value


def check_eligible(table: Table, l: int) -> None:  # noqa: E741
    """Refuses a table where an event has more than rows/l rows: no grouping can dilute it."""
    event_rows = table.event_rows
    most = int(event_rows.max(initial=0))
    if most * l <= table.rows:
        return
    problem = (
        f'"{table.events[int(event_rows.argmax())].label}" has {most:,} of {table.rows:,} rows '
        f"({plain_percent(most / table.rows)}), more than one in l = {l}."
    )
    largest = table.rows // most
    if largest < 2:
        raise InputError("ineligible", problem, "No l works: protect rarer values only.")
    remedy = f"The largest l that works is {largest}; or protect rarer values only."
    raise InputError("ineligible", problem, remedy)
