"""Attackers who hold several releases of the same people, and know who is in which group of each.

A partner of a case meets their own value again in every release, a case does not; groups that share
people differ in what they hold; and who came or left is counted apart from all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attacks.attacker import UNSURE, Guesses
from shoal.attacks.counting import FEWEST
from shoal.attacks.lineup import Lineup
from shoal.attacks.scene import Scene
from shoal.auditing.releases import Constraints
from shoal.data.spec.spec import support_for
from shoal.groups import Grouping
from shoal.knowledge import event_chances


class Intersector:
    """Of the values of somebody's groups only those are left that all releases publish."""

    name = "intersection"
    reasoning = "weighs the values that all groups of a person together leave to them"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        told, table = scene.releases, scene.table
        lineup, row = _suspects(scene, 0, told.place)
        holds = table.value_event == lineup.event[lineup.question][:, None]
        for view in scene.knowledge.views:
            chances = view.distributions[view.index[table.row_signature]]
            weight = view.distributions[view.index[lineup.signature]]
            for release in range(len(told.shown)):
                weight = weight * _lent(told, release, chances)[row]
            carries, others = (weight * holds).sum(axis=1), (weight * ~holds).sum(axis=1)
            chance = carries / np.maximum(carries + others, np.finfo(float).tiny)
            before = event_chances(view, table)[view.index]
            sure = (carries > 0) & (others == 0)  # nothing else is left: rounding does not say so
            yield Guesses(lineup, chance, view.name, _unless(sure, chance), before)


class Differencer:
    """What one group holds more than another that shares people with it, others of it have."""

    name = "difference"
    reasoning = "compares what groups of two releases hold that share some of their people"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        told = scene.releases
        for release in range(1, len(told.shown)):
            lineup, row = _suspects(scene, 0, told.place[[release]])
            group = told.place[release, row]
            cells = np.stack([lineup.question, group])
            (question, other), cell = np.unique(cells, axis=1, return_inverse=True)
            people = np.bincount(cell.ravel(), lineup.people)
            held = np.minimum(people, told.held[other, lineup.event[question]])
            room = np.where(other < 0, people, held)
            elsewhere = np.bincount(question, room, lineup.questions)[question] - room
            cases = lineup.carriers[question]
            chance = cases * room / np.maximum(room + elsewhere, 1) / people
            chance = _unless(cases - elsewhere >= people, chance)[cell.ravel()]
            yield Guesses(lineup, chance, f"release {release + 1}", chance)


class Arrivals:
    """What the counts of then and now differ by, is of those who came or left."""

    name = "arrivals"
    reasoning = "counts the cases of a stratum among those who came, or left, and among all others"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        for release in range(1, len(scene.releases.shown)):
            for through, here, away in (("newcomers", 0, release), ("leavers", release, 0)):
                yield from self._counted(scene, here, away, f"{through}, release {release + 1}")

    def _counted(self, scene: Scene, here: int, away: int, through: str) -> Iterator[Guesses]:
        table, told = scene.table, scene.releases
        inside, there = (told.shown[one].group >= 0 for one in (here, away))
        lineup, row = _suspects(scene, here, there[None, :].astype(np.int64))
        least = table.spec.min_support or support_for(int(there.sum()))
        event = lineup.event[lineup.question]
        for view in scene.knowledge.class_views:
            of_row, size = view.index[table.row_signature], 2 * len(view.distributions)
            known = np.bincount(of_row, there, size // 2) >= least
            stratum = 2 * of_row + (known[of_row] & there)
            mine = view.index[lineup.signature]
            held = np.stack(
                [
                    np.bincount(stratum, inside & table.holds(one)[table.row_value], size)
                    for one in range(len(table.events))
                ]
            )
            key = event * size + 2 * mine + (known[mine] & there[row])
            cases, among = held.ravel()[key], np.bincount(key, lineup.people)[key]
            score = np.maximum(cases, FEWEST) / among
            sure = (cases >= among) & (mine > 0)
            before = event_chances(view, table)[view.index]
            yield Guesses(lineup, score, f"{through}, {view.name}", _unless(sure, score), before)


def _unless(sure: np.ndarray, chance: Floats) -> Floats:
    return np.where(sure, 1.0, np.minimum(chance, UNSURE))


def _suspects(scene: Scene, release: int, marks: Ints) -> tuple[Lineup, Ints]:
    """The groups of a release that hold an event, with people told apart by marks of every row; and
    for each suspect the row of somebody of the group with these marks."""
    table, told = scene.table, scene.releases.shown[release]
    marked = np.vstack([told.group, marks])
    _, first, mark = np.unique(marked, axis=1, return_index=True, return_inverse=True)
    pooled = np.zeros(int(told.group.max()) + 1, bool)
    pooled[told.group[(told.value == len(told.table.values)) & (told.group >= 0)]] = True
    grouping = Grouping.of_rows(
        table, told.group, weights=mark.ravel().astype(np.float64), pooled=pooled
    )
    lineup = Lineup.of(table, grouping, scene.knowledge, limit=scene.limit)
    assert lineup.weight is not None, "everybody has a mark"
    return replace(lineup, weight=None), first[lineup.weight.astype(np.int64)]


def _lent(told: Constraints, release: int, chances: Floats) -> Floats:
    """rows x values: how many times likelier their group makes it that somebody has each value: how
    many it publishes, to how many are expected of its people. 1 of those who are in none."""
    place, values = told.place[release], len(told.table.values)
    lent = np.ones((len(place), values))
    for pooled in (False, True):
        mine = np.flatnonzero((place >= 0) & (told.pooled[place] == pooled))
        shows = told.shows(release, pooled=pooled)
        width = len(told.shown[release].table.values) + 1
        expected = np.zeros((len(told.release), width))
        for value in range(values):
            of_group = np.bincount(place[mine], chances[mine, value], len(told.release))
            expected[:, shows[value]] += of_group
        published = np.zeros_like(expected)
        published[told.owner, told.code.clip(max=width - 1)] = told.count
        ratio = np.divide(published, expected, out=np.zeros_like(expected), where=expected > 0)
        lent[mine] = ratio[place[mine]][:, shows]
    return lent
