"""Whether what is known fits into memory, said before it is counted."""

from __future__ import annotations

import warnings

import numpy as np

from shoal.data.spec import InputWarning
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.memory import allowed_memory, refuse_memory, size_words
from shoal.wording import visible

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
