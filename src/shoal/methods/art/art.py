"""ART: A-groups in which nobody can be linked to a protected event above their limit.

Every carrier of an event is hidden in a group whose other members are so like it that every
posterior of every reader stays within its limit (1/r) in every view; all others are in groups in
which their value cannot be read. Wong, Fu, Wang, Xu, Pei and Yu, "Anonymization with Worst-Case
Distribution-Based Background Knowledge", 2009, section 4.

Steps (the same numbers stand in attempts.py)
1. Code the free rows as cells: (signature, published value) with how many rows are free.
2. Hide carriers among filler rows that share one value: in such a pure group both the joint and the
   binary posterior have a closed form (kernels/links.py), so that the search meets the readers' own
   conditions, not proxies. Groups are made of blind cells (blind.py), so that they do not point at
   their carriers; who is left over is hidden among filler of any value, published pooled.
   Cells become smaller where people are scarce (attempts.py).
3. Check every such group in double precision; what fails is taken apart.
4. Where filler cannot do it (many events, or each value is one), make groups of several events and
   check each with its exact posteriors (mixed.py, kernels/mixed.py).
5. Leave out lookalikes with the carriers who are left, so that absence tells nothing (absence.py);
   past `max_suppression` stop with a diagnosis.
6. Take decoys into groups, so that counting over all groups tells nothing either (decoys.py).
7. Join groups in which all public counts together make somebody too sure (joining.py).
8. Gather everybody else into groups of r that hold more than one value (everybody.py).

Departures from the paper. Its condition (Theorem 1) is not sufficient against its own adversary,
and wastes far more rows; its groups are grown around carriers, row by row, and so point at them.
`condition="bound"`, `selection="closest"` is that variant, kept as the reference that attackers
succeed on (bound.py). Pure groups, pools, blind cells and mixed groups are ours. It publishes rows
without an event that nobody needs alone (`smallest_group=1`), which shows their value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from shoal.data.spec import checked_whole
from shoal.data.table import Table
from shoal.data.table.hierarchy import Hierarchy
from shoal.errors import InputError
from shoal.groups import Grouping, Progress, silent
from shoal.groups.generalization import generalize
from shoal.knowledge import READERS, Knowledge, Reader, as_readers
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.attempts import FEW, MANY, group_blindly
from shoal.methods.art.blind import Blindness
from shoal.methods.art.bound import merge_by_bound
from shoal.methods.art.dealing import deal_values
from shoal.methods.art.everybody import gather_everybody
from shoal.methods.art.outset import refuse_impossible, refuse_large
from shoal.wording import TRY, plain_percent

GUARANTEES = {
    "absolute": "nobody is linked to an event with more than 1/r, in any view",
    "prior": "nobody is linked to an event with more than 1/r, or than was known in the same view "
    "before, in any view",
}


@dataclass(frozen=True)
class Art:
    """The paper's algorithm, verified by default."""

    condition: Literal["joint", "bound"] = "joint"
    """joint: every posterior of the joint adversary; bound: the paper's Theorem 1."""
    selection: Literal["needed", "closest"] | None = None
    """needed: partners that close deficits; closest: the paper's smallest increase of delta. None
    means what goes with the condition."""
    max_suppression: float = 0.05
    """The largest share of an event's cases that may be left out."""
    cell: int | None = None
    """Fewest people of a cell of similar people, which groups are made of and which are cut without
    regard to who is a case; None means 2 r, and fewer where people are scarce."""
    form: Literal["bucketized", "generalized"] = "bucketized"
    """bucketized: exact QI values; generalized: a range of values for each group."""
    hierarchies: Mapping[str, Hierarchy] | None = None
    """Hierarchies for the generalized form."""
    smallest_group: int | None = None
    """Fewest people of a group; None means r rounded up for people without an event whom nobody
    needs, and 1 that each of them is published alone, with their exact value."""
    largest: int = 200
    """Largest number of partners of one case; and of people who are in one group only so that
    it holds another value."""
    readers: tuple[str | Reader, ...] = ("joint", "binary")
    """Whom every group answers."""
    knowledge: Knowledge | None = None
    """The adversary's knowledge; None means what the spec says."""

    name = "art"
    takes_several = True

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
        for name in ("cell", "smallest_group"):
            value = getattr(self, name)
            if value is not None:
                checked_whole(name, value)
        for name, given in (
            ("cell", self.cell is not None),
            ("smallest_group", (self.smallest_group or 1) > 1),
        ):
            if given and self.condition == "bound":
                raise InputError(
                    "art-variant",
                    f"{name} means nothing to groups that are grown row by row.",
                    'Leave it out, or use condition="joint".',
                )
        if not 0 <= self.max_suppression <= 1:
            raise InputError(
                "suppression",
                f"max_suppression is {self.max_suppression!r}.",
                "Give a share from 0 to 1.",
            )

    def anonymize(
        self,
        table: Table,
        *,
        seed: int = 0,
        progress: Progress = silent,
        told: Grouping | None = None,
        judged: Table | None = None,
    ) -> Grouping:
        """`told` are groups of the table that are published already; all others are found.
        `judged` has the limits that they are judged by, where other releases may follow."""
        readers = as_readers(self.readers)
        known = self.knowledge or Knowledge.of(table)
        asked = Asked.of(table, known, readers, told, judged)
        if table.several is not None:
            self._check_several()
            asked.knowledge.check_columns(table)
        if self.condition == "joint" and told is None:
            refuse_impossible(asked, self.max_suppression)
        claims: dict[str, Any] = {}
        if self.condition == "bound":
            groups = Assembly.of(asked)
            merge_by_bound(groups, asked.knowledge, largest=self.largest, progress=progress)
        else:
            if table.several is None:
                refuse_large(asked)
            best = group_blindly(
                asked,
                Blindness(cell=self.cell, largest=self.largest, least=self.smallest_group or 1),
                most_lost=min(self.max_suppression, FEW) * asked.carriers,
                may_lose=min(self.max_suppression, MANY) * asked.carriers,
                seed=seed,
                progress=progress,
            )
            groups, claims = best.groups, best.how.claims(float(table.event_r.max()))
        if table.several is None:
            made = groups.grouping(asked if self.condition == "joint" else None)
        else:
            made = groups.grouping(hidden=("pure", "pooled"))
            made = deal_values(table, made, np.random.default_rng(seed))
        if self.condition == "joint" and self.smallest_group != 1:
            made = self._gathered(table, made)  # 8
        grouping = replace(made, claims=self._claims(table, groups) | claims)
        self._check_suppression(asked, grouping)
        if self.form == "bucketized":
            return grouping
        recodings = generalize(table, grouping.group, grouping.signature, self.hierarchies or {})
        return replace(grouping, form=self.form, recodings=recodings)

    def _gathered(self, table: Table, made: Grouping) -> Grouping:
        """The groups with everybody in one of them."""
        strict = self.smallest_group is not None
        smallest = self.smallest_group or math.ceil(float(table.event_r.max()))
        made = gather_everybody(table, made, smallest, self.largest, strict=strict)
        small = int(made.sizes.min(initial=smallest)) if made.published else smallest
        if strict and small < smallest:
            raise InputError(
                "smallest-group",
                f"A group of {small} people finds no {smallest - small} more who could join it.",
                "Ask for a smaller smallest_group, or for a larger r.",
            )
        return made

    def _check_several(self) -> None:
        if self.condition == "bound":
            raise InputError(
                "art-several",
                "The paper's own variant knows one sensitive column.",
                'Use condition="joint", or one sensitive column.',
            )
        if any(one.name not in (*READERS, "together") for one in as_readers(self.readers)):
            raise InputError(
                "reader-several",
                "ART answers adversaries of your own where there is one sensitive column.",
                f"Choose among: {', '.join(READERS)}.",
            )

    def _check_suppression(self, asked: Asked, grouping: Grouping) -> None:
        table = asked.whole
        lost = asked.carriers - grouping.carriers(table)
        share = lost / max(1, asked.carriers)
        if share > self.max_suppression:
            raise InputError(
                "suppression-limit",
                f"{lost:,} of {asked.carriers:,} people with a protected value "
                f"({plain_percent(share)}) find no group at r = {table.spec.r:g}; at most "
                f"{plain_percent(self.max_suppression)} of them may be left out. "
                "Nothing was written.",
                f"`shoal plan` says what stands in the way. {TRY}",
            )

    def _answered(self, table: Table) -> list[str]:
        """The readers that every group answers, by name."""
        names = [one.name for one in as_readers(self.readers)]
        if table.several is not None and "joint" in names and not table.spec.publish_apart:
            names.append("together")
        return [name for name in dict.fromkeys(names) if name in (*READERS, "together")]

    def _claims(self, table: Table, groups: Assembly) -> dict[str, Any]:
        if self.condition == "bound":
            return {
                "guarantee": "each group with an event meets the bound of Theorem 1 in every view",
                "condition": "bound",
                "selection": "closest",
            }
        return {
            "guarantee": GUARANTEES[table.spec.limit],
            "condition": "joint",
            "selection": "needed",
            "readers": self._answered(table),
            "pure_groups": groups.count("pure"),
            "pooled_groups": groups.count("pooled"),
            "mixed_groups": groups.count("mixed"),
            **({} if table.several is None else {"alike_groups": groups.count("alike")}),
        }
