"""Sensitive values that are probably one value, written in several ways."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from shoal.spec import InputWarning, Spec

SHOWN_GROUPS = 3


def alike_values(values: Iterable[str]) -> list[tuple[str, ...]]:
    """The values, sorted, that differ only by spaces or case: "HIV", "HIV " and "hiv"."""
    groups: dict[str, list[str]] = {}
    for value in sorted(set(values)):
        groups.setdefault(" ".join(value.split()).casefold(), []).append(value)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def warn_of_alike(values: Iterable[str], spec: Spec) -> None:
    """Warns of a value that is protected while one like it is not, or is an event of its own."""
    event = {value: one.label for one in spec.protect or () for value in one.values}
    shown = []
    for group in alike_values(values):
        events = {value if spec.protect is None else event.get(value) for value in group}
        if len(events) > 1:
            shown.append(" and ".join(f'"{value}"' for value in group))
    if shown:
        more = f", and {len(shown) - SHOWN_GROUPS} more" if len(shown) > SHOWN_GROUPS else ""
        warnings.warn(
            f'Values of "{spec.sensitive}" differ only by spaces or case, but are not protected as '
            f"one: {', '.join(shown[:SHOWN_GROUPS])}{more}. Put them into one event, or mend them.",
            InputWarning,
            stacklevel=2,
        )
