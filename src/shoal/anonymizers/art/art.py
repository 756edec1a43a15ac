"""ART: A-groups in which nobody can be linked to a protected event with more than 1/r.

Every carrier of an event is hidden in a group of its own whose other members are so like it that
the adversary's posterior stays at or below 1/r in every view; all other rows stay as they are.
Wong, Fu, Wang, Xu, Pei and Yu, "Anonymization with Worst-Case Distribution-Based Background
Knowledge", 2009, section 4.

Steps (the same numbers stand in the code)
1. Code the free rows as cells: (signature, published value) with how many rows are free.
2. Hide each carrier, those with small odds first, among filler rows that share one value: in such
   a pure group the joint posterior has a closed form (kernels/hide.py), so that the search meets
   the adversary's own condition, not a proxy. Carriers who are left over trade (trade.py).
3. Hide who is left among filler of any value, published pooled as one value: the closed form holds
   again, with the odds against everything outside the events.
4. Check every such group in double precision; what fails is taken apart.
5. Where filler cannot do it (many events, or each value is one), make groups of several events and
   check each with its exact joint posterior (mixed.py, kernels/mixed.py).
6. Suppress the carriers who are left; past `max_suppression` stop with a diagnosis.

Departures from the paper. Its condition (Theorem 1) is not sufficient against its own adversary,
and wastes far more rows; `condition="bound"`, `selection="closest"` is that variant, kept as the
reference (bound.py). Pure groups, pools, the cover against guessing (theory, section 7) and
mixed groups are ours. Rows without an event that nobody needs are published alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from shoal.anonymizers.art.bound import merge_by_bound
from shoal.anonymizers.art.cells import Assembly, Cells
from shoal.anonymizers.art.hide import hide_among_filler
from shoal.anonymizers.art.mixed import mix_events
from shoal.errors import InputError
from shoal.grouping import Grouping, Progress, silent
from shoal.grouping.generalization import generalize
from shoal.knowledge import Knowledge
from shoal.table import Table
from shoal.table.hierarchy import Hierarchy
from shoal.wording import plain_percent


@dataclass(frozen=True)
class Art:
    """The paper's algorithm, verified by default."""

    condition: Literal["joint", "bound"] = "joint"
    """joint: every posterior of the joint adversary; bound: the paper's Theorem 1."""
    selection: Literal["needed", "closest"] | None = None
    """needed: partners that close deficits; closest: the paper's smallest increase of delta. None
    means what goes with the condition."""
    max_suppression: float = 0.05
    """The largest share of an event's carriers that may be left out."""
    form: Literal["bucketized", "generalized"] = "bucketized"
    """bucketized: exact QI values; generalized: a range of values for each group."""
    hierarchies: Mapping[str, Hierarchy] | None = None
    """Hierarchies for the generalized form."""
    cover: float | None = None
    """How much it counts to hide a carrier behind likelier members; None means 1/r."""
    largest: int = 200
    """Largest number of partners of one carrier."""
    knowledge: Knowledge | None = None
    """The adversary's knowledge; None means what the spec says."""

    name = "art"

    def __post_init__(self) -> None:
        if self.selection is None:
            usual = "closest" if self.condition == "bound" else "needed"
            object.__setattr__(self, "selection", usual)
        if (self.condition, self.selection) not in (("joint", "needed"), ("bound", "closest")):
            raise InputError(
                "art-variant",
                f'condition="{self.condition}" does not go with selection="{self.selection}".',
                "Use joint with needed, or bound with closest (the paper's own).",
            )
        if not 0 <= self.max_suppression <= 1:
            raise InputError(
                "suppression",
                f"max_suppression is {self.max_suppression!r}.",
                "Give a share from 0 to 1.",
            )

    def anonymize(self, table: Table, *, seed: int = 0, progress: Progress = silent) -> Grouping:
        knowledge = self.knowledge or Knowledge.of(table)
        cells = Cells.of(table)  # 1
        groups = Assembly(table, cells)
        if self.condition == "bound":
            merge_by_bound(groups, knowledge, largest=self.largest, progress=progress)
        else:
            if cells.filler_suffices():
                hide_among_filler(  # 2
                    groups, knowledge, cover=self.cover, largest=self.largest, progress=progress
                )
                hide_among_filler(  # 3
                    groups,
                    knowledge,
                    cover=self.cover,
                    largest=self.largest,
                    progress=progress,
                    pooled=True,
                )
                groups.drop_unsafe(knowledge)  # 4
            mix_events(groups, knowledge, seed=seed, progress=progress)  # 5
        grouping = replace(groups.grouping(), claims=self._claims(table, groups))
        self._check_suppression(table, grouping)  # 6
        if self.form == "bucketized":
            return grouping
        recodings = generalize(table, grouping.group, grouping.signature, self.hierarchies or {})
        return replace(grouping, form=self.form, recodings=recodings)

    def _check_suppression(self, table: Table, grouping: Grouping) -> None:
        lost = table.carriers - grouping.carriers(table)
        share = lost / max(1, table.carriers)
        if share > self.max_suppression:
            raise InputError(
                "suppression-limit",
                f"{lost:,} of {table.carriers:,} rows that carry an event ({plain_percent(share)}) "
                f"find no group at r = {table.spec.r:g}, over the limit of "
                f"{plain_percent(self.max_suppression)}.",
                "`shoal plan` says what stands in the way; lower r, raise min_support, drop or "
                "band a QI, or raise max_suppression.",
            )

    def _claims(self, table: Table, groups: Assembly) -> dict[str, Any]:
        if self.condition == "bound":
            return {
                "guarantee": "each group with an event meets the bound of Theorem 1 in every view",
                "condition": "bound",
                "selection": "closest",
            }
        return {
            "guarantee": "nobody is linked to an event with more than 1/r, in any view",
            "condition": "joint",
            "selection": "needed",
            "pure_groups": groups.count("pure"),
            "pooled_groups": groups.count("pooled"),
            "mixed_groups": groups.count("mixed"),
        }
