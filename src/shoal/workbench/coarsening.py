"""What coarser values of a column would do: to its values, and to how many people stand alone."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

from shoal.data.spec import MISSING, Recipe, Spec
from shoal.data.spec.recipe import ANY
from shoal.data.table import Table
from shoal.data.table.hierarchy import read_hierarchy
from shoal.data.table.recoding import values_recoded
from shoal.errors import InputError, ShoalError
from shoal.planning.settings import detail, recipes_for
from shoal.workbench import drafting
from shoal.workbench.held import Held
from shoal.workbench.inside import inside
from shoal.workbench.project.files import write_text

FEW = 5
"""Combinations that fewer people share are told of, unless the spec has a k."""
HIERARCHIES, PARTS, STEP = "hierarchies", 4, " > "
DATES = ("date=month", "date=year")


@dataclass(frozen=True)
class Effect:
    """What a recoding of one column does, in figures."""

    recipe: str
    """As --recode writes it; empty for the values as they are."""
    values: int
    combinations: int
    """Of the values of all QIs."""
    alone: int
    """People whose combination nobody else has."""
    few: int
    """People whose combination fewer than k share."""
    kept: float
    """The share of the column's detail that is left."""


@dataclass(frozen=True)
class Coarsening:
    """One QI of a table, and the recodings that can be tried of it."""

    held: Held
    spec: Spec
    column: str
    folder: Path

    def plain(self) -> Table:
        """The table with this column as it is."""
        return self.held.table(self._with(None))

    def suggested(self) -> list[str]:
        """Recodings that are worth a look, as --recode writes them."""
        table, kind = self.plain(), self.held.profiles[self.column].kind
        place = table.spec.qi.index(self.column)
        found = [text for text, _ in recipes_for(table, table.qi[place], place)]
        found += [f"quantiles={PARTS}"] if kind == "number" and found else []
        found += DATES if kind == "date" else []
        for file in sorted((self.folder / HIERARCHIES).glob(f"{_stem(self.column)}-*.csv")):
            tree = read_hierarchy(file, name=self.column)
            found += [
                f"hierarchy={HIERARCHIES}/{file.name}{f'; level={level}' if level > 1 else ''}"
                for level in range(1, tree.height)
            ]
        return found

    def effect(self, text: str) -> Effect:
        """What a recoding does; an InputError where it cannot be done."""
        plain, table = self.plain(), self.held.table(self._with(self._recipe(text)))
        place, rows = table.spec.qi.index(self.column), table.signature_rows
        return Effect(
            text,
            len(table.qi[place]),
            len(rows),
            int((rows == 1).sum()),
            int(rows[rows < self.k].sum()),
            detail(table, place) / max(1e-12, detail(plain, place)),
        )

    def effects(self, texts: Sequence[str]) -> list[tuple[str, Effect | ShoalError]]:
        """What each recoding does, or why it cannot be done."""
        found: list[tuple[str, Effect | ShoalError]] = []
        for text in dict.fromkeys(texts):
            try:
                found.append((text, self.effect(text)))
            except ShoalError as error:
                found.append((text, error))
        return found

    def becomes(self, text: str) -> list[tuple[str, int, list[str]]]:
        """The values that a recoding makes: how many people have each, and of which it is made."""
        table, recipe = self.plain(), self._recipe(text)
        place = table.spec.qi.index(self.column)
        column, rows = table.qi[place], table.qi_rows(place)
        made = values_recoded(column, rows, recipe) if recipe else column.values
        parts: dict[str, tuple[int, list[str]]] = {}
        for new, old, count in zip(made.to_list(), column.labels, rows.tolist(), strict=True):
            label = old if recipe is None else MISSING if new is None else str(new)
            so_far, members = parts.get(label, (0, []))
            parts[label] = so_far + count, [*members, old]
        return [(label, count, members) for label, (count, members) in parts.items()]

    @property
    def k(self) -> int:
        return self.spec.k or FEW

    def _recipe(self, text: str) -> Recipe | None:
        """A recoding with its files where they lie; None for none."""
        made = drafting.with_recipes({}, {self.column: text}).get("recode")
        if made is None:
            return None
        recipe = Recipe(**made[self.column])
        if recipe.hierarchy is None:
            return recipe
        return replace(recipe, hierarchy=str(self.folder / inside(self.folder, recipe.hierarchy)))

    def _with(self, recipe: Recipe | None) -> Spec:
        """The spec with this recoding of the column, which then has no bands of its own."""
        others = [pair for pair in self.spec.recode if pair[0] != self.column]
        kept = [band for band in self.spec.bands if band[0] != self.column or recipe is None]
        mine = [] if recipe is None else [(self.column, recipe)]
        return self.spec.with_(recode=[*others, *mine], bands=kept)


def keep_groups(folder: Path, column: str, groups: Mapping[str, str]) -> str:
    """Writes a hierarchy of a column into the project: each value's group, and after ` > ` that
    group's, which need be said once. Values and groups without one stay by themselves. Its path,
    another one for each content."""
    paths = {value: [part.strip() for part in text.split(">")] for value, text in groups.items()}
    named = {value: [part for part in path if part] for value, path in paths.items()}
    depth = max(map(len, named.values()), default=0)
    if not depth:
        raise InputError("hierarchy-form", "No value is in a group.", "Name a group for some.")
    above = {pair for path in named.values() for pair in enumerate(pairwise(path))}
    parents = {(level, group): parent for level, (group, parent) in above}
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for value, path in named.items():
        full = path or [value]
        for level in range(len(full) - 1, depth - 1):
            full.append(parents.get((level, full[-1]), full[-1]))
        writer.writerow([value, *full, ANY])
    text = lines.getvalue()
    name = f"{_stem(column)}-{blake2b(text.encode(), digest_size=4).hexdigest()}.csv"
    place = folder / HIERARCHIES / name
    place.parent.mkdir(exist_ok=True)
    write_text(place, text)
    try:
        read_hierarchy(place, name=column)
    except ShoalError:  # groups contradict each other
        place.unlink()
        raise
    return f"{HIERARCHIES}/{name}"


def groups_of(folder: Path, column: str, recipe: str) -> dict[str, str]:
    """The groups of a hierarchy that a recoding names, as they are typed; none if it names none."""
    made = drafting.with_recipes({}, {column: recipe}).get("recode", {}).get(column, {})
    if not made.get("hierarchy"):
        return {}
    tree = read_hierarchy(folder / inside(folder, made["hierarchy"]), name=column)
    return {path[0]: STEP.join(dict.fromkeys(path[1:])) for path in tree.paths}


def _stem(column: str) -> str:
    """What the files of a column's hierarchies begin with."""
    own = blake2b(column.encode("utf-8", "surrogatepass"), digest_size=2).hexdigest()
    return f"{re.sub('[^a-z0-9]+', '-', column.lower())[:40].strip('-')}-{own}"
