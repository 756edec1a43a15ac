"""Groups of people who are alike to everybody: those of one signature.

Where people carry several events, or one of many, filler is scarce. But the people of one signature
hide one another, whatever they hold: no reader in no view tells them apart, so that each is linked
to an event by its share among them. Nothing is lost by such a group either, for whoever counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.arrays import Bools, Floats
from shoal.groups.ragged import Ragged
from shoal.knowledge import event_chances, seen_in
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.kernels.alike import choose_alike
from shoal.methods.art.limits import strengths


def group_alike(groups: Assembly, asked: Asked, least: int) -> None:
    """One group of each signature, of at least `least` people, with as many of its carriers as it
    can hide."""
    cells, table = groups.cells, groups.table
    start = Ragged.of_owners(cells.signature, len(table.signatures)).start
    chosen = np.zeros(len(cells.free), np.int64)
    read = list(_read(asked))
    carries = np.column_stack([one for one, _ in read])
    strength = np.column_stack([one for _, one in read])
    choose_alike(start, cells.free, cells.value.astype(np.int64), carries, strength, least, chosen)
    cells.free[:] -= chosen
    members = np.repeat(np.arange(len(chosen)), chosen)
    for one in np.split(members, np.flatnonzero(np.diff(cells.signature[members])) + 1):
        if len(one):
            groups.add(one, "alike")


def _read(asked: Asked) -> Iterator[tuple[Bools, Floats]]:
    """What is read of a group: which masks hold an event, and of each signature one over its limit.
    Under the honest limit an event of several columns is also read in each of them alone, where
    less is known of it beforehand."""
    whole, views = asked.whole, asked.knowledge.views
    several = whole.several
    assert several is not None
    for event, r in enumerate(whole.event_r.tolist()):
        chances = [event_chances(view, whole)[:, event] for view in views]
        yield several.mask_carries[:, event], _strength(asked, r, chances)
    for aspect in several.aspects:
        if aspect.column is None or not asked.prior:
            continue
        column = several.names.index(aspect.column)
        held = np.append(aspect.table.value_event, np.int32(-1))[several.mask_codes[:, column]]
        seen = [event_chances(seen_in(view, aspect.table), aspect.table) for view in views]
        for number, r in enumerate(aspect.table.event_r.tolist()):
            yield held == number, _strength(asked, r, [one[:, number] for one in seen])


def _strength(asked: Asked, r: float, chances: list[Floats]) -> Floats:
    """Of each signature: one over the limit, in the view where that is least."""
    pairs = zip(chances, asked.knowledge.views, strict=True)
    least = np.min([chance[view.index] for chance, view in pairs], axis=0)
    return strengths(r, least, prior=asked.prior)
