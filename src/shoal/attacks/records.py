"""Singling out and linking records by published QIs, as the opinion WP216 on anonymisation
techniques has them. They concern records, not values: nothing is promised against them."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Ints
from shoal.attacks.attacker import Matches, NotApplicableError
from shoal.attacks.scene import Scene
from shoal.groups.lookup import sharing


class SinglingOut:
    """Knows all QIs of a person."""

    name = "singling-out"
    reasoning = "knows all QIs of a person, and looks for a record that can only be theirs"

    def attack(self, scene: Scene) -> Matches:
        return Matches(scene.grouping.people, _alike(scene))


class Linkability:
    """Has two files on the same people, with half of the QIs each, and the release between them."""

    name = "linkability"
    reasoning = "has half of the QIs in one file and half in another, and links by the release"

    def attack(self, scene: Scene) -> Matches:
        count = len(scene.table.qi)
        if count < 2:
            raise NotApplicableError("One QI cannot be split between two files.")
        halves = range(count // 2), range(count // 2, count)
        fits = [_alike(scene, half) for half in halves]
        return Matches(scene.grouping.people, np.maximum(*fits))


def _alike(scene: Scene, attributes: range | None = None) -> Ints:
    return sharing(scene.table, scene.grouping, attributes, exact=scene.exact)
