"""What is asked: column roles, protected events, how strongly, against whom."""

from __future__ import annotations

from shoal.data.spec.checks import checked_r, checked_seed, checked_whole
from shoal.data.spec.events import Event, as_event, parse_event
from shoal.data.spec.person import ROWS_OF_PERSON, RowRule
from shoal.data.spec.recipe import RARE, Recipe
from shoal.data.spec.spec import (
    LIMITS,
    MAX_QI,
    MISSING,
    OTHER,
    InputWarning,
    Limit,
    Spec,
    band_name,
    check_keys,
    support_for,
)

__all__ = [
    "LIMITS",
    "MAX_QI",
    "MISSING",
    "OTHER",
    "RARE",
    "ROWS_OF_PERSON",
    "Event",
    "InputWarning",
    "Limit",
    "Recipe",
    "RowRule",
    "Spec",
    "as_event",
    "band_name",
    "check_keys",
    "checked_r",
    "checked_seed",
    "checked_whole",
    "parse_event",
    "support_for",
]
