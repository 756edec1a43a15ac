"""The chance that any row of a person has an event, from all worlds of all groups written down.
Nothing here may be imported from `shoal`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence

from tests.oracle.worlds import weigh


def any_row(
    distributions: Sequence[Sequence[float]],
    values: Sequence[int],
    groups: Sequence[int],
    owners: Sequence[int],
    event: Collection[int],
) -> dict[int, float]:
    """By person. Of each row: what is known of it, what is published of it, its group (-1: none)
    and whose it is; a world of a group hands its values out to its rows."""
    none = dict.fromkeys(owners, 1.0)
    for group in set(groups) - {-1}:
        rows = [row for row, one in enumerate(groups) if one == group]
        weights = weigh([distributions[row] for row in rows], [values[row] for row in rows])
        without = Counter[int]()
        people = {owners[row] for row in rows}
        for world, weight in weights.items():
            hit = {owners[row] for row, value in zip(rows, world, strict=True) if value in event}
            for person in people - hit:
                without[person] += weight  # type: ignore[assignment]
        for person in people:
            none[person] *= without[person] / math.fsum(weights.values())
    return {person: 1.0 - left for person, left in none.items()}
