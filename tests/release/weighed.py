"""Releases with weights that are given: some of a group's people sampled, others added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.groups import FormName, Grouping, Progress, silent
from shoal.groups.generalization import generalize
from shoal.knowledge import Knowledge
from shoal.knowledge.entropy import all_counts

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


@dataclass(frozen=True)
class Matched:
    """A matched sample: all cases, and others as often as public odds say; cells of it by chance.
    Whoever is not in it is alone."""

    ratio: float
    cell: int
    weighed: bool = True
    name: str = "matched"

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        random, everybody = np.random.default_rng(seed), table.by_cell
        case = everybody.event >= 0
        known = all_counts(table, Knowledge.of(table)).chance[everybody.signature, 0]
        chance = known.clip(max=0.999)
        rate = np.minimum(1.0, (self.ratio - 1) * chance / (1 - chance))
        sample = random.permutation(np.flatnonzero(case | (random.random(len(case)) < rate)))
        cells = len(sample) // self.cell
        groups = np.full(len(case), -1, np.int32)
        groups[sample] = np.arange(len(sample)) % cells
        inside = (chance / np.maximum(chance + (1 - chance) * rate, 1e-12))[sample]
        total = np.bincount(groups[sample], inside, cells)
        held = np.bincount(groups[sample], case[sample], cells)
        weight = np.full(len(case), np.nan)
        weight[sample] = inside * (held / total)[groups[sample]]
        unfit = np.unique(groups[sample][weight[sample] > 1])
        weight[np.isin(groups, [*unfit, *np.flatnonzero(held == 0)])] = np.nan
        alone = np.flatnonzero(groups < 0)
        groups[alone] = cells + np.arange(len(alone))
        return Grouping.of_people(table, groups, weights=weight if self.weighed else None)
