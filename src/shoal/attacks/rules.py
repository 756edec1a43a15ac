"""Attackers who go by one look at each group: the likeliest member, the one in the middle, the
rarest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.arrays import Floats
from shoal.attacks.attacker import Guesses, NotApplicableError
from shoal.attacks.distances import in_logs, in_ratios, to_all_others
from shoal.attacks.lineup import Lineup
from shoal.attacks.scene import Scene
from shoal.knowledge import event_chances


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
        equal = (lineup.carriers / lineup.members)[lineup.case]
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
