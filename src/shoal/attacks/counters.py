"""Attackers who count over all groups, and the one who looks for the missing.

What they count are classes, which a model does not have: its views are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.arrays import Bools
from shoal.attacks.attacker import UNSURE, Guesses, NotApplicableError
from shoal.attacks.counting import believed, by_class, certainties
from shoal.attacks.scene import Scene
from shoal.knowledge import View, event_chances

SURE = 1e6
"""Added to the score of whoever is certain to carry."""


class ClassCounter:
    """Of a class with k carriers, m are in groups that hold the event."""

    name = "counter-class"
    reasoning = "counts the cases of every stratum over its people in groups that hold the event"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        lineup, views = scene.lineup, scene.knowledge.class_views
        if not lineup.questions or not views:
            return
        sure = _sure(scene)[0]
        ways = {view.name: (view,) for view in views} | {"all views on average": views}
        for through, some in ways.items():
            told = by_class(lineup, some)
            chance = np.where(sure, 1.0, np.minimum(np.exp(told), UNSURE))
            yield Guesses(lineup, told + SURE * sure, through, chance, scene.by_counts)


class OddsCounter:
    """Fits odds to the counts of all classes of one view."""

    name = "counter-odds"
    reasoning = "fits odds to all groups until every stratum of one view has its cases"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        for view in _counted(scene):
            chance = believed(scene.lineup, scene.missing, (view,))[0]
            before = event_chances(view, scene.table)[view.index]
            yield Guesses(scene.lineup, chance, view.name, chance, before)


class AllCounter:
    """Fits odds to the counts of all views at once: what these say together, before and after."""

    name = "counter-all"
    reasoning = "fits odds to all groups until the strata of all views at once have their cases"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        if _counted(scene):
            chance = scene.believed[0]
            yield Guesses(scene.lineup, chance, chance=chance, before=scene.by_counts)


def _counted(scene: Scene) -> tuple[View, ...]:
    """The views whose classes have been counted; none where there is nobody to name."""
    if not scene.lineup.questions:
        return ()
    if not scene.counted_views:
        raise NotApplicableError("Nobody has counted what is known: it comes from outside.")
    return scene.counted_views


class Absentee:
    """The missing are a group like any other, but that nobody made it."""

    name = "absentee"
    reasoning = "names as many of the missing people as there are missing cases"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        lineup = scene.missing
        if not lineup.questions:
            return
        sure = _sure(scene)[1]
        for view in scene.knowledge.views:
            chance = lineup.chance_in(view)
            before = event_chances(view, scene.table)[view.index]
            told = np.where(sure, 1.0, lineup.posterior(lineup.binary(view)))
            yield Guesses(lineup, chance + SURE * sure, view.name, told, before)
        if scene.counted_views:
            told = np.where(sure, 1.0, scene.believed[1])
            yield Guesses(lineup, told, "all views at once", told, scene.by_counts)


def _sure(scene: Scene) -> tuple[Bools, Bools]:
    """Who carries for certain, by counting in some view; in groups, and among the missing."""
    inside = np.zeros(len(scene.lineup.signature), bool)
    gone = np.zeros(len(scene.missing.signature), bool)
    for view in scene.knowledge.class_views:
        here, there = certainties(scene.lineup, scene.missing, view)
        inside |= here
        gone |= there
    return inside, gone
