"""Small components of overlapping groups, whose posteriors are exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.auditing.releases.constraints import Constraints
from shoal.auditing.releases.kernels import hand_out_together

UNCOUNTED, UNPUBLISHED = -1, -2


class Overlap(NamedTuple):
    """A component: types of people, who are alike to every reader and in the same groups; values,
    of which those that no group tells apart are one; and lines of groups."""

    sizes: Ints
    """How many people are of each type."""
    part: Ints
    """The value here of each value of the table."""
    event: Ints
    """The event of each value here, or -1."""
    line: Ints
    """types x values x releases: the line of which the value takes a place; `UNCOUNTED` where the
    person is in no group of the release, `UNPUBLISHED` where the group does not publish it."""
    places: Ints
    """How many places each line has."""
    group: Ints
    """The group of each line."""

    @classmethod
    def of(cls, told: Constraints, place: Ints, sizes: Ints) -> Overlap:
        """Of types x releases `place`, the groups of each type."""
        groups = np.unique(place[place >= 0])
        ways = sorted({(int(told.release[g]), bool(told.pooled[g])) for g in groups})
        shows = {one: told.shows(one[0], pooled=one[1]) for one in ways}
        alike = np.stack([told.table.value_event, *shows.values()])
        kept, first, part = np.unique(alike, axis=1, return_index=True, return_inverse=True)
        line = np.full((len(place), kept.shape[1], place.shape[1]), UNCOUNTED)
        counts, owners, lines = [], [], 0
        for g in groups:
            mine = slice(told.start[g], told.start[g + 1])
            code = told.code[mine]
            shown = shows[int(told.release[g]), bool(told.pooled[g])][first]
            at = np.searchsorted(code, shown).clip(max=len(code) - 1)
            inside, release = np.nonzero(place == g)
            line[inside, :, release] = np.where(code[at] == shown, lines + at, UNPUBLISHED)
            counts.append(told.count[mine])
            owners.append(np.full(len(code), g))
            lines += len(code)
        event = np.asarray(told.table.value_event[first], np.int64)
        count = np.concatenate(counts)
        return cls(sizes, part.ravel(), event, line, count, np.concatenate(owners))

    def by_event(self, event: int) -> Overlap:
        """The overlap as a reader has it who tells one event from all else."""
        groups, mine = np.unique(self.group), self.event == event
        holds = np.zeros(len(self.places), bool)
        holds[self.line[:, mine][self.line[:, mine] >= 0]] = True
        count = np.zeros((len(groups), 2), np.int64)
        line = np.full((len(self.sizes), 2, self.line.shape[2]), UNCOUNTED)
        for number, g in enumerate(groups):
            own = self.group == g
            count[number] = self.places[own & holds].sum(), self.places[own & ~holds].sum()
            inside, release = np.nonzero(np.isin(self.line, np.flatnonzero(own)).any(axis=1))
            taken = np.where(count[number] > 0, 2 * number + np.arange(2), UNPUBLISHED)
            line[inside, :, release] = taken
        part = np.where(mine[self.part], 0, 1)
        return Overlap(
            self.sizes, part, np.array([event, -1]), line, count.ravel(), np.repeat(groups, 2)
        )

    def counted(self) -> Ints:
        """The lines whose places have to be counted: of each group all but the largest."""
        some = self.places > 0
        for g in np.unique(self.group):
            own = np.flatnonzero(self.group == g)
            some[own[np.argmax(self.places[own])]] = False
        return np.flatnonzero(some)

    def steps(self) -> float:
        """How many elementary steps the exact posteriors take."""
        states = float(np.prod(self.places[self.counted()] + 1.0))
        return float(states * self.sizes.sum() * len(self.event) * self.line.shape[2])

    def posteriors(self, chances: Floats) -> Floats:
        """types x values, from types x values of the table; not a number where no world has
        weight."""
        summed = np.zeros((len(self.sizes), len(self.event)))
        np.add.at(summed.T, self.part, chances.T)
        return self.posteriors_of(summed)

    def posteriors_of(self, chances: Floats) -> Floats:
        """Posteriors from chances by types x values."""
        lines = self.counted()
        size = np.append(self.places[lines] + 1, 1)
        apart = np.append(1, np.cumprod(size[:-1]))
        number = np.full(len(self.places) + 2, len(lines))
        number[lines] = np.arange(len(lines))
        place = number[self.line]
        free = place == len(lines)
        weights = np.where((self.line == UNPUBLISHED).any(axis=2), 0.0, chances)
        most = weights.max(axis=1, keepdims=True)
        weights = np.divide(weights, most, out=np.zeros_like(weights), where=most > 0)
        stride, radix = np.where(free, 0, apart[place]), np.where(free, 1, size[place])
        return np.asarray(hand_out_together(weights, self.sizes, stride, radix, int(apart[-1])))
