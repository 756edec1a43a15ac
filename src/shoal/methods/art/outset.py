"""What no search can do, said before it: carriers for whom there are too few people."""

from __future__ import annotations

from math import ceil

import numpy as np

from shoal.data.table import Table, factorize
from shoal.errors import InputError
from shoal.knowledge import Hiding, Scarce
from shoal.memory import allowed_memory, refuse_memory
from shoal.methods.art.asked import Asked
from shoal.methods.art.columns import TOGETHER, narrow
from shoal.wording import TRY, plain_percent, visible

PER_KIND, PER_CLASS, PER_NUMBER, PER_CELL = 250, 60, 17, 120
"""Bytes that a search takes, beside where each kind stands in each view (columns.py, lookalikes.py,
kernels/fill.py): for one kind of people, for a class in one column, for a number of those that are
written out together, and for a cell of the table (cells.py)."""
BLAMED = 3
"""So many QIs are named, those that would bring most."""


def refuse_impossible(asked: Asked, max_suppression: float) -> None:
    """An InputError if it is certain that more carriers than may be left out find no group."""
    if asked.prior or "binary" not in [reader.name for reader in asked.readers]:
        return
    table = asked.whole
    most = max_suppression * table.carriers
    hiding = Hiding(table, asked.knowledge)
    lost = hiding.lost()
    if lost <= most:
        return
    worst = hiding.scarce()[0]
    event = table.events[worst.event]
    r = float(table.event_r[worst.event])
    largest = ceil(max(1.0, r * hiding.largest_scale(most)) * 100) / 100
    raise InputError(
        "r-impossible",
        f"At least {lost:,} of {table.carriers:,} people with a protected value "
        f"({plain_percent(lost / table.carriers)}) can find no group at r = {r:g}; at most "
        f"{plain_percent(max_suppression)} may be left out. {_where(table, worst)} have "
        f'"{visible(event.label)}", and the table has partners for {worst.hidden:,} of them at '
        f"most. Every r above {largest:g} is impossible: that is proven for any groups that "
        "withstand the binary adversary. Nothing was written.",
        TRY,
    )


def refuse_large(asked: Asked) -> None:
    """An InputError if to weigh all people who hold one value, in every view and for every reader,
    needs more memory than there is, with what is known of them."""
    table = asked.table
    value = table.cells.value[table.value_event[table.cells.value] < 0]
    kinds = int(np.bincount(value, minlength=1).max())
    needed = needed_memory(asked, kinds)
    refuse_memory(
        needed,
        f"To weigh {kinds:,} combinations of QI values in {len(asked.knowledge.views):,} views",
        _dropping(table) if needed > allowed_memory() else "",
    )


def needed_memory(asked: Asked, kinds: int) -> int:
    """The bytes that a search among so many kinds of people takes, with those of the knowledge."""
    table, views = asked.table, asked.knowledge.views
    known = sum(view.index.nbytes + view.distributions.nbytes for view in views)
    classes = [len(view.distributions) for view in views]
    stands = len(views) * np.dtype(narrow(max(classes))).itemsize
    least = 8 * len(table.signatures) * len(table.values)  # Asked.rarest
    return (
        known
        + least
        + max(least, kinds * (stands + PER_KIND))
        + PER_CLASS * sum(classes) * len(asked.readers)
        + PER_NUMBER * min(TOGETHER, kinds * asked.width)
        + PER_CELL * len(table.cells.rows)
    )


def _dropping(table: Table) -> str:
    """What leaving out each QI would bring, as a sentence; those first that bring most."""
    sizes = [len(column) for column in table.qi]
    left = []
    for number, column in enumerate(table.qi):
        others = [i for i in range(len(sizes)) if i != number]
        _, keys = factorize([table.signatures[:, i] for i in others], [sizes[i] for i in others])
        left.append((len(keys), f"{len(keys):,} without {visible(column.name)} ({len(column):,})"))
    told = "; ".join(text for _, text in sorted(left)[:BLAMED])
    return (
        f"Of {len(table.signatures):,} combinations there would be (values of the QI): {told}. "
        "Drop one or more, or limit the adversary with --max-attributes."
    )


def _where(table: Table, scarce: Scarce) -> str:
    """The carriers who are too many, in words."""
    if scarce.carriers == table.event_rows[scarce.event]:
        return f"{scarce.carriers:,} people of {table.rows:,}"
    seen = " and ".join(visible(name) for name in scarce.view.attributes)
    chance = plain_percent(scarce.chance)
    return f"By {seen}, {scarce.carriers:,} people with a chance of {chance} or more"
