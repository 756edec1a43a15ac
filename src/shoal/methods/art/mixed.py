"""ART, step 4: groups of several events, each checked with its exact posteriors.

First groups of tuples that are alike to the adversary, for one event after the other, those first
whose carriers are the hardest to hide; who is left of an event then grows groups of near tuples.
In the end those who found no group join finished ones, from ever farther away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from shoal.arrays import Bools, Floats, Ints, Singles
from shoal.data.table import Table
from shoal.groups import Progress
from shoal.groups.ragged import Ragged
from shoal.knowledge import Knowledge, event_chances
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.kernels.absorbing import Whereabouts, absorb
from shoal.methods.art.kernels.mixed import Known
from shoal.methods.art.kernels.mixing import MixedGroups, Places, grow, pack_alike

DIRECTIONS = 24
CHUNK = 256
CHECKS = 120
"""How many candidates of one step are checked exactly, at r = 1; fewer for the larger groups of a
larger r."""
LARGEST, MOST_STATES = 24, 4096
"""Of any group, whatever r is: its members, and the states of its exact check."""
GROWN_FROM = 150
"""How many signatures the members of a grown group are taken from."""
JOINED_BLOCKS = 5
"""Of how many blocks a group is made at most when others join it."""
JOINED_FROM = (80, 300, 1500, 5000)
"""How many signatures the blocks are taken from, round after round."""
WORTH_ANOTHER_ROUND = 0.15
"""The share of those waiting that a round has to place for the next one to be tried."""
MOST_BLOCKS, MOST_SWAPS = 6000, 4_000_000
"""Blocks looked at for one tuple, and numbers kept for them: fewer blocks where there are many
views."""
TINY = 1e-9


def mix_events(groups: Assembly, asked: Asked, *, seed: int, progress: Progress) -> None:
    """Groups the free carriers with one another (and with free filler); the rest stays free."""
    waiting = int(groups.cells.free[groups.cells.event >= 0].sum())
    if not waiting or math.ceil(float(groups.table.event_r.min())) > LARGEST:
        return
    mix = _Mix(groups, asked, waiting, seed, progress)
    for event in mix.hardest_first():
        mix.pack(event)
        mix.grow(event)
    for near in JOINED_FROM:
        before = mix.waiting()
        mix.join(near)
        if not before or before - mix.waiting() < WORTH_ANOTHER_ROUND * before:
            break
    mix.hand_over()


class _Mix:
    """One run of step 4: what the kernels work on."""

    def __init__(
        self, groups: Assembly, asked: Asked, waiting: int, seed: int, progress: Progress
    ) -> None:
        self._assembly, self._progress = groups, progress
        self._cells = cells = groups.cells
        knowledge, names = asked.knowledge, [reader.name for reader in asked.readers]
        views = knowledge.views
        least = min(LARGEST, math.ceil(float(groups.table.event_r.max())))  # events of a group
        self._grown = min(LARGEST, max(8, 2 * least + 2))
        self._joined = min(LARGEST, max(12, 3 * least))
        first = np.cumsum([0] + [len(view.distributions) for view in views])[:-1]
        at = np.stack([view.index + start for view, start in zip(views, first, strict=True)], 1)
        self._known = Known(
            cells.signature.astype(np.int64),
            cells.value.astype(np.int64),
            np.ascontiguousarray(at, np.int32),
            np.concatenate([view.distributions for view in views]),
            groups.table.value_event.astype(np.int64),
            np.concatenate([event_chances(view, groups.table) for view in views]),
            groups.table.event_r,
            names != ["binary"],
            "binary" in names,
            asked.prior,
            min(MOST_STATES, max(256, 2 ** (least + 1))),
            np.arange(len(views)),
        )
        signatures = len(groups.table.signatures)
        self._places = Places(
            _places(signatures, knowledge, seed),
            Ragged.of_owners(cells.signature, signatures).start,
        )
        self._groups = MixedGroups(
            cells.free, np.zeros((waiting, self._joined), np.int64), np.zeros(waiting, np.int64)
        )
        self._odds, self._cover = _odds(groups.table, knowledge)
        self._made = 0
        self._tries = math.ceil(CHECKS / float(groups.table.event_r.max()))
        self._most = max(64, min(MOST_BLOCKS, MOST_SWAPS // len(views)))
        kinds = np.unique(self._known.at, axis=0, return_inverse=True)[1].reshape(-1)
        of_cell = kinds[cells.signature]
        self._class_cells = np.argsort(of_cell, kind="stable")
        self._class_start = np.searchsorted(
            of_cell[self._class_cells], np.arange(kinds.max() + 2)
        ).astype(np.int64)

    def waiting(self) -> int:
        return int(self._cells.free[self._cells.event >= 0].sum())

    def hardest_first(self) -> list[int]:
        return [int(event) for event in np.argsort(self._cover, kind="stable")]

    def pack(self, event: int) -> None:
        values = len(self._assembly.table.values)
        left = np.bincount(self._known.value, self._cells.free, minlength=values)
        self._made = pack_alike(
            event,
            self._class_start,
            self._class_cells,
            self._known,
            self._groups,
            self._made,
            left.astype(np.int64),
        )

    def grow(self, event: int) -> None:
        for starts in self._chunks(self._cells.event == event, "mixing events"):
            self._made = grow(
                starts,
                self._known,
                self._places,
                self._groups,
                self._made,
                GROWN_FROM,
                min(self._most, 3 * GROWN_FROM),
                self._grown,
                self._tries,
            )

    def join(self, near: int) -> None:
        where = self._whereabouts()
        for starts in self._chunks(self._cells.event >= 0, "joining groups"):
            self._made = absorb(
                starts,
                self._known,
                self._places,
                self._groups,
                where,
                self._made,
                near,
                self._most,
                self._joined,
                self._tries,
                JOINED_BLOCKS,
            )

    def hand_over(self) -> None:
        """Adds the groups to the assembly."""
        for g in np.flatnonzero(self._groups.sizes[: self._made]):
            self._assembly.add(self._groups.members[g, : self._groups.sizes[g]].copy(), "mixed")

    def _chunks(self, which: Bools, step: str) -> Iterator[Ints]:
        """Cells with free rows, those with small odds first, in portions."""
        cells = np.flatnonzero(which & (self._cells.free > 0))
        odds = self._odds[self._cells.signature[cells], self._cells.event[cells]]
        cells = cells[np.argsort(odds, kind="stable")]
        for first in range(0, len(cells), CHUNK):
            self._progress(step, first, len(cells))
            yield cells[first : first + CHUNK]

    def _whereabouts(self) -> Whereabouts:
        members, sizes = self._groups.members[: self._made], self._groups.sizes[: self._made]
        group, position = np.nonzero(np.arange(self._joined) < sizes[:, None])
        signature = self._known.signature[members[group, position]]
        order = np.argsort(signature, kind="stable")
        start = np.searchsorted(signature[order], np.arange(len(self._places.place) + 1))
        most = len(self._groups.sizes)
        return Whereabouts(
            start.astype(np.int64), group[order], np.arange(most), np.zeros(most + 1, np.int64)
        )


def _odds(table: Table, knowledge: Knowledge) -> tuple[Floats, Floats]:
    """Signatures x events: the odds, on average over views. And for each event how many times over
    everybody's odds cover those of its carriers, in the view where that is least: below r not all
    of them can be hidden."""
    signature, value, rows = table.cells
    carrier = table.value_event[value] >= 0
    signature, event, rows = signature[carrier], table.value_event[value[carrier]], rows[carrier]
    mean = np.zeros((len(table.signatures), len(table.events)))
    cover = np.full(len(table.events), np.inf)
    for view in knowledge.views:
        chance = np.clip(event_chances(view, table), TINY, 1 - TINY)
        odds = (chance / (1 - chance))[view.index]
        mean += odds / len(knowledge.views)
        own = np.bincount(event, rows * odds[signature, event], minlength=len(table.events))
        cover = np.minimum(cover, table.signature_rows @ odds / np.maximum(own, TINY))
    return mean, cover


def _places(signatures: int, knowledge: Knowledge, seed: int) -> Singles:
    """A point for each signature: the square roots of its distributions in all views, seen from a
    few random directions. Good enough to propose partners, which are then checked exactly."""
    random = np.random.default_rng(seed)
    place = np.zeros((signatures, DIRECTIONS), np.float32)
    for view in knowledge.views:
        directions = random.standard_normal((view.distributions.shape[1], DIRECTIONS))
        place += (np.sqrt(view.distributions) @ directions).astype(np.float32)[view.index]
    return place
