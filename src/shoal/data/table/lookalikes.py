"""Values that are probably one value, written in several ways."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from shoal.data.spec import InputWarning, Spec
from shoal.data.table import Table
from shoal.data.table.alike import skeleton, strange_signs
from shoal.wording import visible

SHOWN_GROUPS = 3
SAME_BUT_FOR = "differ only by spaces or case, or look alike"


def alike_values(values: Iterable[str]) -> list[tuple[str, ...]]:
    """The values, sorted, that differ only by spaces or case, or look alike: "HIV", "HIV ", "hiv",
    and "НIV" with a Cyrillic letter."""
    groups: dict[str, list[str]] = {}
    for value in sorted(set(values)):
        groups.setdefault(skeleton(value), []).append(value)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def warn_of_lookalikes(table: Table) -> None:
    """Warns of sensitive values as `warn_of_alike` does, and of all QI values that look alike:
    people who have them do not count as alike."""
    warn_of_alike(table.members.labels, table.spec)
    for column in table.qi:
        groups = [] if column.numeric else alike_values(column.labels)
        if groups:
            _warn(
                f'Values of the QI "{visible(column.name)}" {SAME_BUT_FOR}, but count as '
                f"different: {_shown(groups)}. Mend them, or those people are set apart."
            )


def warn_of_alike(values: Iterable[str], spec: Spec) -> None:
    """Warns of a value that is protected while one like it is not, or is an event of its own."""
    event = {value: one.label for one in spec.protect or () for value in one.values}
    apart = [
        group
        for group in alike_values(values)
        if len({value if spec.protect is None else event.get(value) for value in group}) > 1
    ]
    if apart:
        _warn(
            f'Values of "{spec.sensitive}" {SAME_BUT_FOR}, but are not protected as one: '
            f"{_shown(apart)}. Put them into one event, or mend them."
        )


def _warn(text: str) -> None:
    warnings.warn(text, InputWarning, stacklevel=3)


def _shown(groups: list[tuple[str, ...]]) -> str:
    shown = (" and ".join(_spelt(value) for value in group) for group in groups[:SHOWN_GROUPS])
    more = f", and {len(groups) - SHOWN_GROUPS} more" if len(groups) > SHOWN_GROUPS else ""
    return f"{', '.join(shown)}{more}"


def _spelt(value: str) -> str:
    """A value in quotes, and what in it only looks like something else."""
    strange = strange_signs(value)
    return f'"{visible(value)}"' + (f" ({', '.join(strange)})" if strange else "")
