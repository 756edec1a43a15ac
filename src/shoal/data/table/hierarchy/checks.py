"""What must hold of a hierarchy's paths, and how values and attributes are written in messages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NoReturn

from shoal.data.spec import MISSING
from shoal.errors import InputError, nearest

Labels = tuple[str, ...]


def check_depth(name: str, paths: Sequence[Labels], *, depth: int) -> None:
    """Every path must have that many labels, none of them empty above the value."""
    ragged = [path[0] for path in paths if len(path) != depth or not all(path[1:])]
    if ragged:
        problem = f"{attribute(name)}: the rows of {listing(ragged)} have gaps or another"
        problem += f" number of levels than {depth}."
        remedy = "Give every value a label at every level; repeat a label where nothing changes."
        raise InputError("hierarchy-ragged", problem, remedy)


def check_values(name: str, paths: Sequence[Labels]) -> None:
    """Every value must stand there once."""
    times = Counter(path[0] for path in paths)
    twice = [text for text, count in times.items() if count > 1]
    if twice:
        apart = len({path for path in paths if path[0] in set(twice)}) > len(twice)
        how = "with different parents" if apart else "in repeated rows"
        problem = f"{attribute(name)}: {listing(twice)} given more than once, {how}."
        raise InputError("hierarchy-value-twice", problem, "Give every value exactly once.")


def check_parents(name: str, paths: Sequence[Labels]) -> None:
    """Every node of an inner level must lead to one and the same parent."""
    for level in range(1, len(paths[0]) - 1 if paths else 0):
        parent_of: dict[str, str] = {}
        for path in paths:
            node, parent = path[level], path[level + 1]
            if parent_of.setdefault(node, parent) != parent:
                problem = f'{attribute(name)}: "{node}" at level {level} lies below both '
                problem += f'"{parent_of[node]}" and "{parent}".'
                remedy = "Give the two nodes different labels, or the same parent."
                raise InputError("hierarchy-two-parents", problem, remedy)


def raise_missing(name: str, unknown: Sequence[str], *, known: Iterable[str]) -> NoReturn:
    """Says which values of a table a hierarchy lacks."""
    hint = nearest(unknown[0], known)
    problem = f"{attribute(name)} lacks the value {listing(unknown)}{hint}."
    raise InputError("hierarchy-value-missing", problem, "Add it to the hierarchy.")


def attribute(name: str) -> str:
    """How a message speaks of the hierarchy."""
    return f'The hierarchy of "{name}"' if name else "The hierarchy"


def listing(texts: Sequence[str], limit: int = 5) -> str:
    """The first few texts in quotes, and how many more there are."""
    shown = ", ".join(f'"{text}"' for text in texts[:limit])
    return shown if len(texts) <= limit else f"{shown} and {len(texts) - limit} more"


def is_missing(value: object) -> bool:
    """Whether a value is null or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def text_of(value: object) -> str:
    """A value as hierarchy files write it."""
    if is_missing(value):
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
