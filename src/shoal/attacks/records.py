"""Singling out and linking records by published QIs, as the opinion WP216 on anonymisation
techniques has them. They concern records, not values: nothing is promised against them."""

from __future__ import annotations

import numpy as np

from shoal.attacks.attacker import Matches, NotApplicableError
from shoal.attacks.odds import Ints
from shoal.attacks.scene import Scene
from shoal.table import IntArray, factorize


class SinglingOut:
    """Knows all QIs of a person."""

    name = "singling-out"
    reasoning = "knows all QIs of a person, and looks for a record that can only be theirs"

    def attack(self, scene: Scene) -> Matches:
        return Matches(scene.grouping.people, alike(scene, range(len(scene.table.qi))))


class Linkability:
    """Has two files on the same people, with half of the QIs each, and the release between them."""

    name = "linkability"
    reasoning = "has half of the QIs in one file and half in another, and links by the release"

    def attack(self, scene: Scene) -> Matches:
        count = len(scene.table.qi)
        if count < 2:
            raise NotApplicableError("One QI cannot be split between two files.")
        halves = range(count // 2), range(count // 2, count)
        fits = [alike(scene, half) for half in halves]
        return Matches(scene.grouping.people, np.maximum(*fits))


def alike(scene: Scene, attributes: range) -> Ints:
    """For each line of the grouping, how many published records show the same in some QIs."""
    shown = [_shown(scene, position) for position in attributes]
    line, keys = factorize([codes for codes, _ in shown], [size for _, size in shown])
    return np.bincount(line, scene.grouping.people, len(keys)).astype(np.int64)[line]


def _shown(scene: Scene, position: int) -> tuple[IntArray, int]:
    """What lines show of one QI, in codes, and how many there may be: the value, a range, or where
    ranges are not known here whatever is the group's own."""
    grouping, table = scene.grouping, scene.table
    if grouping.recodings:
        recoding = grouping.recodings[position]
        return recoding.node[grouping.group], len(recoding.labels)
    if scene.exact:
        return table.signatures[grouping.signature, position], len(table.qi[position])
    return grouping.group, len(grouping.copies)
