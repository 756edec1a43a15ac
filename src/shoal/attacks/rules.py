"""Attackers who go by one look at each group: the likeliest member, the one in the middle, the
rarest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attacks.attacker import Guesses, Matches, NotApplicableError
from shoal.attacks.features import in_logs, in_ratios, to_all_others
from shoal.attacks.learning import can_grow
from shoal.attacks.lineup import Lineup, as_odds
from shoal.attacks.scene import Scene
from shoal.groups.lookup import sharing
from shoal.knowledge import event_chances
from shoal.knowledge.models import fit_model


class Likeliest:
    """Reads every group as the promise has it."""

    name = "likeliest"
    reasoning = "names the likeliest member of a group, by one view and as one adversary"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        lineup = scene.lineup
        ways = {"joint": lineup.joint, "binary": lineup.binary}
        for reader in [one for one in ways if one in scene.readers]:
            for view in scene.knowledge.views:
                odds = ways[reader](view)
                yield Guesses(
                    lineup,
                    odds,
                    through=f"{view.name}, {reader} reader",
                    chance=lineup.posterior(odds),
                    before=event_chances(view, scene.table)[view.index],
                )


class Weight:
    """Whoever shares a group's cases by published weights may as well name who has most."""

    name = "weight"
    reasoning = "names the member with the largest published weight"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        lineup = scene.lineup
        if lineup.weight is None:
            raise NotApplicableError("The release publishes no weights.")
        equal = (lineup.carriers / lineup.members)[lineup.question]
        weight = np.where(np.isnan(lineup.weight), equal, lineup.weight)
        yield Guesses(lineup, weight, chance=np.minimum(weight, 1.0))


class Medoid:
    """Groups that are grown around somebody have that person in their middle."""

    name = "medoid"
    reasoning = "names the member who is nearest to all others of the group"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        for through, apart in (("ratios of odds", in_ratios), ("logarithms", in_logs)):
            yield Guesses(scene.sample, -to_all_others(scene.sample, apart), through=through)


class Rarest:
    """Partners are often found among people who are many."""

    name = "rarest"
    reasoning = "names the member whose attributes fewest people share, in the group and the table"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        yield Guesses(scene.lineup, rarity(scene.lineup))


def rarity(lineup: Lineup) -> Floats:
    """The larger, the fewer of the group are alike; then, the fewer of the table."""
    in_table = lineup.table.signature_rows[lineup.signature]
    return np.asarray(-lineup.people - in_table / (1 + in_table.max(initial=0)))


# Singling out and linking records by published QIs, as the opinion WP216 on anonymisation
# techniques has them. They concern records, not values: nothing is promised against them.


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


# The modeller: what a fitted model of all QIs says of everybody, and who is likeliest by it.

NEEDS_MODELS = "It needs the package scikit-learn: pip install scikit-learn."
FEWEST = 5
"""Of fewer kinds of people no model is fitted to others."""


class Modeller:
    """Boosted trees, fitted on people unlike those who are asked about (knowledge/models)."""

    name = "modeller"
    reasoning = "fits a model of the event on all QIs, and names the likeliest member by it"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        if not can_grow():
            raise NotApplicableError(NEEDS_MODELS)
        if len(scene.table.signatures) < FEWEST:
            raise NotApplicableError("There are too few different people to fit a model to others.")
        return self._named(scene)

    def _named(self, scene: Scene) -> Iterator[Guesses]:
        lineup = scene.lineup
        if not lineup.questions:
            return
        (view,) = fit_model(scene.table, "boosting", seed=scene.seed).views
        chances = event_chances(view, scene.table)[view.index]
        odds = as_odds(chances[lineup.signature, lineup.event[lineup.question]])
        yield Guesses(lineup, odds, chance=lineup.posterior(odds), before=chances)
