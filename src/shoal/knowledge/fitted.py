"""What is said of a fitted model: how it was fitted, and how well it tells who carries an event."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Floats
from shoal.data.table import Table

TENTHS = 10
SAME_CHANCE = 9
"""Chances that agree in so many digits are the same."""
ENOUGH_CASES = 100
"""Of an event with fewer cases the quality is not published: it would tell who they may be."""


@dataclass(frozen=True)
class Quality:
    """How well a model tells who carries one event."""

    event: str
    auc: float | None
    """How often a case is given a larger chance than somebody else; None if all or none carry
    it."""
    expected: float
    """The cases that its chances add up to."""
    carriers: int
    """Those whom the table has."""
    calibration: float
    """How far chances are from shares of cases, on average over tenths of the people, from the
    least to the most likely."""


@dataclass(frozen=True)
class Fitted:
    """A model that makes a view: it says something of every person, and has no classes."""

    name: str
    folds: int | None
    """In how many parts the table was cut, each part foretold from the others; None if the
    distributions were given as they are."""
    seed: int | None
    """Where the parts come from."""
    quality: tuple[Quality, ...]

    def __str__(self) -> str:
        """In a few words, for certificates and reports."""
        known = [one for one in self.public().quality if one.auc is not None]
        text = f"model {self.name}"
        text += f", cross-fitted in {self.folds} folds" if self.folds else ""
        if not known:
            return text
        best = max(known, key=lambda one: one.auc or 0.0)
        of = f' of "{best.event}"' if len(known) > 1 else ""
        return f"{text}, AUC {best.auc:.2f}{of}, calibration error {best.calibration:.4f}"

    def public(self) -> Fitted:
        """What may stand in a certificate."""
        known = tuple(one for one in self.quality if one.carriers >= ENOUGH_CASES)
        return replace(self, quality=known)


def measure(table: Table, chances: Floats) -> tuple[Quality, ...]:
    """The quality of chances (signatures x events) for every event of the table."""
    signature, value, rows = table.cells
    found = []
    for number, event in enumerate(table.events):
        mine = np.flatnonzero(table.value_event[value] == number)
        cases = np.bincount(signature[mine], rows[mine], len(table.signatures)).astype(float)
        chance, people = chances[:, number], table.signature_rows.astype(float)
        auc = _auc(chance, cases, people - cases)
        found.append(
            Quality(
                event=event.label,
                auc=None if auc is None else round(auc, 3),
                expected=round(float(chance @ people), 1),
                carriers=int(cases.sum()),
                calibration=round(_calibration(chance, cases, people), 4),
            )
        )
    return tuple(found)


def _auc(chance: Floats, cases: Floats, others: Floats) -> float | None:
    """The chance that a case stands above somebody else; equal ones count half."""
    pairs = cases.sum() * others.sum()
    if not pairs:
        return None
    _, place = np.unique(chance, return_inverse=True)
    mine, theirs = np.bincount(place, cases), np.bincount(place, others)
    below = np.cumsum(theirs) - theirs / 2
    return float(mine @ below / pairs)


def _calibration(chance: Floats, cases: Floats, people: Floats) -> float:
    # People of one chance are in one tenth: whatever their order, and however the last digit is
    # rounded, it comes out the same.
    _, place = np.unique(chance.round(SAME_CHANCE), return_inverse=True)
    alike = np.bincount(place, people)
    middle = np.cumsum(alike) - alike / 2
    tenth = (TENTHS * middle / people.sum()).astype(np.int64)
    gap = np.bincount(tenth, np.bincount(place, chance * people - cases))
    return float(np.abs(gap).sum() / people.sum())
