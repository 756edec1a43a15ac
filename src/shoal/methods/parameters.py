"""Parameters that several anonymizers share: what the spec's r makes of them, and whether they can
hold for a table."""

from __future__ import annotations

import math

from shoal.data.spec import checked_whole
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.wording import plain_percent


def whole(name: str, value: int | None, table: Table, *, least: int = 2) -> int:
    """The parameter as given, or for None the table's largest r, rounded up."""
    if value is None:
        return math.ceil(float(table.event_r.max()))
    return checked_whole(name, value, least)


def share(name: str, value: float) -> None:
    """An InputError unless a parameter is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError("share", f"{name} is {value!r}.", f"Give {name} a number from 0 to 1.")


def check_eligible(table: Table, l: int) -> None:  # noqa: E741
    """Refuses a table where an event has more than rows/l rows: no grouping can dilute it."""
    event_rows = table.event_rows
    most = int(event_rows.max(initial=0))
    if most * l <= table.rows:
        return
    largest = table.rows // most
    problem = (
        f'"{table.events[int(event_rows.argmax())].label}" has {most:,} of {table.rows:,} rows '
        f"({plain_percent(most / table.rows)}), more than one in l = {l}."
    )
    works = f"The largest l that works is {largest}; or" if largest > 1 else "No l works:"
    raise InputError("ineligible", problem, f"{works} protect rarer values only.")
