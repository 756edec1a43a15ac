"""Releases with weights that are given: some of a group's people sampled, others added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.grouping import FormName, Grouping, Progress, silent
from shoal.grouping.generalization import generalize
from shoal.spec import Event, Spec
from shoal.table import Table

SPEC = Spec(qi=("place", "age"), sensitive="state", protect=(Event(("ill",)),), r=2, min_support=20)


def people(seed: int = 1, rows: int = 600) -> pl.DataFrame:
    """People of whom those of some places are ill more often."""
    random = np.random.default_rng(seed)
    place = random.integers(0, 3, rows)
    ill = random.random(rows) < np.array([0.05, 0.1, 0.2])[place]
    return pl.DataFrame(
        {
            "place": np.array(["north", "south", "west"])[place],
            "age": random.integers(0, 4, rows),
            "state": np.where(ill, "ill", random.choice(["cold", "flu"], rows)),
        }
    )


@dataclass(frozen=True)
class Weighed:
    """Groups of eleven people with one or two cases and four people added, who count as nothing;
    all others are alone. `equal` leaves every third group without weights, `wrong` lets a case
    count as nothing."""

    form: FormName = "bucketized"
    equal: bool = True
    wrong: bool = False
    name: str = "weighed"

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        random, everybody = np.random.default_rng(seed), table.by_cell
        case = table.value_event[everybody.value] >= 0
        ill, well = (random.permutation(np.flatnonzero(one)) for one in (case, ~case))
        groups = np.full(len(case), -1, np.int32)
        weight = np.full(len(case), np.nan)
        chosen, taken, number = 0, 0, 0
        while chosen < len(ill):
            mine = ill[chosen : chosen + 1 + number % 2]
            others = well[taken : taken + 11 - len(mine)]
            members = np.concatenate([mine, others])
            groups[members] = number
            # Odds by signature, as public counts have them; the last four are added.
            odds = 2.0 + everybody.signature[members] % 2
            odds[-4:] = 0.0
            if self.wrong and number == 1:
                odds[0] = 0.0
            if not (self.equal and number % 3 == 2):
                weight[members] = len(mine) * odds / odds.sum()
            chosen, taken, number = chosen + len(mine), taken + len(others), number + 1
        alone = np.flatnonzero(groups < 0)
        groups[alone] = number + np.arange(len(alone))
        made = Grouping.of_people(table, groups, weights=weight)
        if self.form == "bucketized":
            return made
        recodings = generalize(table, made.group, made.signature, {})
        return Grouping.of_people(
            table, groups, weights=weight, form=self.form, recodings=recodings
        )
