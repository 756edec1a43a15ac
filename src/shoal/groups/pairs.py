"""Lines by their owners, for whoever wants no more than the numbers."""

from __future__ import annotations

from shoal.arrays import IntArray, Ints, Whole
from shoal.groups.ragged import Ragged


def ragged(start: Whole, chosen: Whole) -> tuple[IntArray, IntArray]:
    """All places of some stretches, one after another, and which of the stretches each is from."""
    return Ragged(start).entries(chosen)


def starts(sorted_owner: Whole, count: int) -> Ints:
    """Where the stretch of each owner begins in lines sorted by them, and where the last ends."""
    return Ragged.of_owners(sorted_owner, count).start
