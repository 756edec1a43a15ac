"""k-anonymity by global recoding: every combination of QI values is shared by at least k people.

Each QI has a chain of ever coarser recipes, each nested in the next; a node is one recipe per QI.
Of the nodes at which few enough people have a combination that fewer than k share, the one that
loses least information is taken, and these few are published without QI values. Nothing depends on
sensitive values.

Samarati: "Protecting Respondents' Identities in Microdata Release", TKDE 2001 (full-domain
generalization); Gionis, Tassa: "k-Anonymization with Minimal Loss of Information", TKDE 2009
(non-uniform entropy).

1. Make each QI's chain: what was asked for, then wider bands, fewer quantiles, higher levels of a
   hierarchy, dates by month and year, rare values gathered; at last every value suppressed.
2. If what was asked for is good enough, it stays. (So recoding twice changes nothing.)
3. Else search the nodes in the order of their loss: one that fails rules out all below it, one that
   does not all that lose as much. Where there are too many nodes, climb from the lowest by what
   helps most for its loss, then descend where that still holds.
4. Recode, and blank out the QI values of the people whose combination is still too rare.

The loss of a person in a QI is the information log2(people with the recoded value / people with
the value); that of a node is its mean over people, as a share of that of suppressing the QI, summed
over QIs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from shoal.arrays import Bools, IntArray, Ints
from shoal.data.spec import Recipe, Spec
from shoal.data.spec.recipe import COARSER, DatePart, Recipes
from shoal.data.table.coding import Column, code_column, digits, factorize
from shoal.data.table.hierarchy import read_hierarchy
from shoal.data.table.recoding import recoded, values_recoded
from shoal.data.table.scale import Dates, scale_of
from shoal.errors import InputError

BLANKED = 0.01
"""Of all people, at most this share is published without QI values."""
QUANTILES = 64
"""Numbers are cut into so many parts at first, and then into half as many."""
MOST_VALUES = 64
"""Of more values than these, all but the most frequent half are gathered at the first step."""
DATES: tuple[DatePart, ...] = ("day", "month", "year")
MOST_NODES = 1 << 17
"""So many nodes are searched for the best; of more, a good one is taken."""

Node = tuple[int, ...]


@dataclass(frozen=True)
class Cost:
    """What it cost that at least k people share every combination."""

    k: int
    asked: Recipes
    """The recipes before those for k were chosen."""
    lost: dict[str, float]
    """The share of the information of each QI that is lost, all recipes counted."""
    blanked: int
    """People who are published without QI values."""


def shared(
    data: pl.DataFrame, spec: Spec, counts: Ints | None = None
) -> tuple[pl.DataFrame, Spec, Cost | None]:
    """The frame recoded, as the spec says and then as far as its k needs; the spec with the recipes
    that were used, and what k cost. `counts` says for how many rows each line stands."""
    if spec.k is None:
        return recoded(data, spec, counts), spec, None
    lattice = _Lattice(data, spec, counts)
    node = lattice.chosen()
    if node is None:
        raise lattice.refusal()
    used = dict(spec.recode)
    for chain, level in zip(lattice.chains, node, strict=True):
        used.pop(chain.name, None)
        if (recipe := chain.recipes[level]) is not None and recipe.level:
            used[chain.name] = recipe
    used_spec = spec.with_(recode=used)
    made = recoded(data, used_spec, counts)
    rare = pl.lit(pl.Series(lattice.rare(node)[lattice.line]))
    shown = [
        chain.name
        for chain, level in zip(lattice.chains, node, strict=True)
        if chain.sizes[level] > 1
    ]
    made = made.with_columns(pl.when(rare).then(None).otherwise(pl.col(shown)).name.keep())
    cost = Cost(
        k=spec.k,
        asked=spec.recode,
        lost={
            chain.name: round(float(chain.lost[level]), 4)
            for chain, level in zip(lattice.chains, node, strict=True)
        },
        blanked=int(lattice.people[lattice.rare(node)].sum()),
    )
    return made, used_spec, cost


class _Chain:
    """Ever coarser recipes of one QI, and what they make of its values."""

    def __init__(
        self, series: pl.Series, recipe: Recipe | None, counts: Ints | None, *, fixed: bool
    ) -> None:
        self.fixed = fixed
        column, codes = code_column(series)
        rows = np.bincount(codes, counts, len(column)).astype(np.int64)
        self.name, self.recipes, made = column.name, list[Recipe | None](), list[IntArray]()
        for one in [recipe] if fixed else [recipe, *_coarser(column, recipe, rows)]:
            try:
                nodes = _nodes(column, rows, one)
            except InputError:  # the values are not of the kind that this recipe is for
                if one is recipe:
                    raise
                continue
            if not made or nodes.max() < made[-1].max():
                self.recipes.append(one)
                made.append(nodes)
        self.sizes = [int(nodes.max()) + 1 for nodes in made]
        self.codes = made[0][codes]
        """Of each line: the first recipe's value."""
        first = np.unique(made[0], return_index=True)[1]
        self.above = [nodes[first] for nodes in made]
        """What recipes make of the first one's values."""
        share = rows / rows.sum()
        parts = [np.bincount(nodes, share) for nodes in made]
        known = -np.log2(np.where(share > 0, share, 1.0))
        entropy = float(share @ known) or 1.0
        own = np.bincount(made[0], share)
        self.loss = [
            np.bincount(made[0], share * (known + np.log2(part[nodes])) / entropy) / own
            for part, nodes in zip(parts, made, strict=True)
        ]
        """Mean loss of the people with each of the first recipe's values."""
        self.most = np.bincount(made[0], share * known / entropy) / own
        self.lost = [float(own @ loss) for loss in self.loss]


class _Lattice:
    """The nodes of a table's QIs."""

    def __init__(self, data: pl.DataFrame, spec: Spec, counts: Ints | None) -> None:
        assert spec.k is not None
        self.k, recipes = spec.k, dict(spec.recode)
        fixed = {name for name, _ in spec.bands}
        fixed |= {name.rpartition("/")[0] for view in spec.views or () for name in view}
        self.chains = [
            _Chain(data[name], recipes.get(name), counts, fixed=name in fixed) for name in spec.qi
        ]
        sizes = [chain.sizes[0] for chain in self.chains]
        self.line, keys = factorize([chain.codes for chain in self.chains], sizes)
        self.signatures = digits(keys, sizes)
        self.people = np.bincount(self.line, counts, len(keys)).astype(np.int64)
        self.allowed = int(BLANKED * self.people.sum())

    @cached_property
    def top(self) -> Node:
        return tuple(len(chain.recipes) - 1 for chain in self.chains)

    def sharing(self, node: Sequence[int]) -> Ints:
        """Of each signature: how many people share its combination."""
        codes = [
            chain.above[level][self.signatures[:, place]]
            for place, (chain, level) in enumerate(zip(self.chains, node, strict=True))
        ]
        sizes = [chain.sizes[level] for chain, level in zip(self.chains, node, strict=True)]
        line, keys = factorize(codes, sizes)
        return np.bincount(line, self.people, len(keys)).astype(np.int64)[line]

    def rare(self, node: Sequence[int]) -> Bools:
        return self.sharing(node) < self.k

    def lost(self, node: Sequence[int]) -> float:
        return sum(chain.lost[level] for chain, level in zip(self.chains, node, strict=True))

    def judge(self, node: Sequence[int]) -> tuple[int, float]:
        """How many people would have to be blanked out, and the loss with that."""
        rare = np.flatnonzero(self.rare(node))
        more = sum(
            (chain.most - chain.loss[level])[self.signatures[rare, place]]
            for place, (chain, level) in enumerate(zip(self.chains, node, strict=True))
        )
        people = self.people[rare]
        return int(people.sum()), self.lost(node) + float((people * more).sum() / self.people.sum())

    def holds(self, blanked: int) -> bool:
        return blanked == 0 or self.k <= blanked <= self.allowed

    def chosen(self) -> Node | None:
        """The node to take; None if only suppressing all QIs would do."""
        lowest = (0,) * len(self.chains)
        if self.holds(self.judge(lowest)[0]):
            return lowest
        nodes = np.prod([float(len(chain.recipes)) for chain in self.chains])
        found = self._best() if nodes <= MOST_NODES else self._climbed()
        return found if found is not None and self._tells(found) else None

    def _tells(self, node: Sequence[int]) -> bool:
        """Whether anything is left of the QIs."""
        levels = zip(self.chains, node, strict=True)
        return any(chain.sizes[level] > 1 for chain, level in levels)

    def _best(self) -> Node | None:
        nodes = np.indices([level + 1 for level in self.top]).reshape(len(self.chains), -1).T
        loss = sum(np.array(chain.lost)[nodes[:, place]] for place, chain in enumerate(self.chains))
        order = np.argsort(loss, kind="stable")
        nodes, loss = nodes[order].astype(np.int16), np.asarray(loss)[order]
        best, bound = None, np.inf
        while len(nodes):
            at = len(nodes) // 2
            node = tuple(nodes[at].tolist())
            blanked, total = self.judge(node)
            kept = np.arange(len(nodes)) != at
            if blanked > self.allowed:
                kept &= (nodes > nodes[at]).any(axis=1)
            elif self.holds(blanked) and total < bound:
                best, bound = node, total
            kept &= loss < bound
            nodes, loss = nodes[kept], loss[kept]
        return best

    def _climbed(self) -> Node | None:
        node: Node = (0,) * len(self.chains)
        blanked = self.judge(node)[0]
        while not self.holds(blanked):
            steps = [
                (one, self.judge(one)[0])
                for one in (_moved(node, place, 1) for place in range(len(node)))
                if all(level <= most for level, most in zip(one, self.top, strict=True))
            ]
            if not steps:
                return None
            here, before = self.lost(node), blanked
            node, blanked = min(
                steps, key=lambda step: (step[1] - before) / (self.lost(step[0]) - here + 1e-9)
            )
        for place in range(len(node)):
            while node[place] and self.holds(self.judge(lower := _moved(node, place, -1))[0]):
                node = lower
        return node

    def refusal(self) -> InputError:
        """Why k is out of reach, and the largest that is not, with nobody blanked out."""
        tops = [self.top] if self._tells(self.top) else []
        tops += [_moved(self.top, place, -1) for place in range(len(self.top)) if self.top[place]]
        largest = max(int(self.sharing(node).min()) for node in tops) if tops else 0
        stay = [chain.name for chain in self.chains if chain.fixed]
        return InputError(
            "k-unreached",
            f"No recoding of the QIs lets at least {self.k:,} people share every combination, "
            "short of suppressing all of them"
            + (f" ({', '.join(stay)}, known in bands too, cannot be recoded)." if stay else "."),
            f"The largest k that recoding reaches is {largest:,}."
            if largest > 1
            else "Leave k out, or give the rows of more people.",
        )


def _moved(node: Node, place: int, step: int) -> Node:
    return (*node[:place], node[place] + step, *node[place + 1 :])


def _nodes(column: Column, rows: Ints, recipe: Recipe | None) -> IntArray:
    """What a recipe makes of each value of a column, in codes."""
    if recipe is None:
        return np.arange(len(column), dtype=np.int32)
    return code_column(values_recoded(column, rows, recipe).alias(column.name))[1]


def _coarser(column: Column, recipe: Recipe | None, rows: Ints) -> Iterator[Recipe]:
    """The chain above a recipe, each step nested in the next."""
    asked = recipe or Recipe(nominal=True)
    missing = asked.missing
    way = next((key for key in COARSER if getattr(asked, key)), None) if recipe else None
    scaled = way is None and not asked.labels
    scaled = scaled and (column.numeric or isinstance(scale_of(column), Dates))
    if way in (None, "nominal") and not scaled:
        rare = sorted({count for count in _frequent(rows) if count > (asked.rare or 1)})
        plain = replace(asked, nominal=way == "nominal") if recipe else Recipe(rare=2)
        yield from (replace(plain, rare=count) for count in rare)
    elif asked.rare is None:
        yield from _wider(column, way, asked)
    yield Recipe(missing=missing, suppress=True)


def _wider(column: Column, way: str | None, asked: Recipe) -> Iterator[Recipe]:
    """Coarser recipes of the same kind; of values that are as they were, of the kind they need."""
    missing = asked.missing
    if way == "bands":
        assert asked.bands is not None
        yield from (replace(asked, bands=asked.bands * 2**step) for step in range(1, 9))
    elif way == "cuts":
        cuts = asked.cuts
        while len(cuts) > 1:
            yield replace(asked, cuts=(cuts := cuts[1::2]))
    elif way == "hierarchy":
        height = read_hierarchy(asked.hierarchy or "", name=column.name).height
        yield from (replace(asked, level=level) for level in range(asked.level + 1, height + 1))
    elif way == "quantiles" or (way is None and column.numeric):
        parts = asked.quantiles or 2 * QUANTILES
        while parts % 2 == 0 and parts > 2:
            yield Recipe(missing=missing, quantiles=(parts := parts // 2))
    else:
        coarser = DATES[DATES.index(asked.date) + 1 :] if asked.date else DATES
        yield from (Recipe(missing=missing, date=part) for part in coarser)


def _frequent(rows: Ints) -> Iterator[int]:
    """How many rows the value has that is the last of the most frequent half, quarter, ..."""
    ordered, kept = np.sort(rows)[::-1], min(len(rows), MOST_VALUES) // 2
    while kept:
        yield int(ordered[kept - 1])
        kept //= 2
