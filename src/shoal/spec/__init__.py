"""What is asked: column roles, protected events, how strongly, against whom."""

from __future__ import annotations

from shoal.spec.spec import (
    LIMITS,
    MAX_QI,
    MISSING,
    Event,
    InputWarning,
    Limit,
    Spec,
    as_event,
    band_name,
    check_keys,
    checked_r,
    checked_seed,
    parse_event,
)

__all__ = [
    "LIMITS",
    "MAX_QI",
    "MISSING",
    "Event",
    "InputWarning",
    "Limit",
    "Spec",
    "as_event",
    "band_name",
    "check_keys",
    "checked_r",
    "checked_seed",
    "parse_event",
]
