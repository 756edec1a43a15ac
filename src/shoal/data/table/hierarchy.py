"""Generalization hierarchies: for one attribute, how values roll up to "any".

A hierarchy is a tree whose leaves all lie at the same depth. Level 0 holds the values,
the last level the single node "any" (written `*`), and every value has a path of labels
from the one to the other. A node is known by its level and label; inside a level, nodes
are numbered in the order in which the values first reach them.

Made from a file (`read_hierarchy`; its forms stand below), a list of
interval widths, or a plain list of values.
"""

from __future__ import annotations

import csv
import io
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.resources import files
from itertools import pairwise
from numbers import Real
from pathlib import Path

import numpy as np

from shoal.arrays import Ints
from shoal.data.spec import MISSING
from shoal.data.spec.checks import band_label
from shoal.data.spec.recipe import ANY
from shoal.errors import InputError, nearest
from shoal.memory import read_text

# The files that hierarchies are written in: wide CSV and TOML, read into plain paths.
#
# A CSV file has one row per value, levels from left to right, as ARX and sdcMicro have them. A
# TOML file holds exactly one of
#
#     values = ["Female", "Male"]                # value, any
#
#     widths = [5, 10, 20]                       # numbers: value, [20, 25), .., any
#
#     [groups]                                   # value, group, any; groups may nest, as
#     Government = ["Federal-gov", "State-gov"]  # long as all values lie equally deep
#     Private-sector = ["Private"]
#
# and, if `*` is not wanted as the label of the top, `any = "all"`.

Labels = tuple[str, ...]
_FORM_REMEDY = (
    "A hierarchy has exactly one of: values (a list), widths (a list of numbers), or groups "
    '(a table of lists, or of tables of lists); and at most "any", a text, beside it.'
)


def _read_csv(path: Path, name: str, separator: str | None) -> list[Labels]:
    text = _read_text(path)
    rows = _split(text, separator) if separator else _sniff(text)
    if not rows:
        problem = f'The hierarchy file "{path}" has no rows.'
        raise InputError("hierarchy-form", problem, "Give one row for every value.")
    check_depth(name, rows, depth=len(rows[0]))
    return rows


def _read_toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(_read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else f"no TOML: {error}"
        problem = f'The hierarchy file "{path}" is {why}.'
        raise InputError("hierarchy-form", problem, "Correct the file.") from None


def _leaves(
    groups: Mapping[str, object], above: Labels, *, name: str
) -> Iterator[tuple[object, Labels]]:
    """Every value with the labels above it, nearest first."""
    for label, body in groups.items():
        labels = (label, *above)
        if isinstance(body, Mapping) and body:
            yield from _leaves(body, labels, name=name)
        elif isinstance(body, list) and body:
            yield from ((value, labels) for value in body)
        else:
            problem = f'{attribute(name)}: the group "{label}" holds no list of values.'
            raise InputError("hierarchy-form", problem, _FORM_REMEDY)


def _read_text(path: Path) -> str:
    try:
        return read_text(path, "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        problem = f'The hierarchy file "{path}" could not be read: {error}.'
        raise InputError("hierarchy-file", problem, "Give the path of a UTF-8 file.") from error


def _split(text: str, separator: str) -> list[Labels]:
    rows = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    cleaned = (tuple(cell.strip() for cell in row) for row in rows)
    return [row for row in cleaned if any(row)]


def _sniff(text: str) -> list[Labels]:
    """Takes `;` if it gives rows of one length, else `,` if that does, else the commoner."""
    parsed = {separator: _split(text, separator) for separator in ";,"}
    for rows in parsed.values():
        if len({len(row) for row in rows}) == 1 and len(rows[0]) > 1:
            return rows
    return max(parsed.values(), key=lambda rows: sum(len(row) > 1 for row in rows))


def check_depth(name: str, paths: Sequence[Labels], *, depth: int) -> None:
    """Every path must have that many labels, none of them empty above the value."""
    ragged = [path[0] for path in paths if len(path) != depth or not all(path[1:])]
    if ragged:
        problem = f"{attribute(name)}: the rows of {listing(ragged)} have gaps or another"
        problem += f" number of levels than {depth}."
        remedy = "Give every value a label at every level; repeat a label where nothing changes."
        raise InputError("hierarchy-form", problem, remedy)


def attribute(name: str) -> str:
    """How a message speaks of the hierarchy."""
    return f'The hierarchy of "{name}"' if name else "The hierarchy"


def listing(texts: Sequence[str], limit: int = 5) -> str:
    """The first few texts in quotes, and how many more there are."""
    shown = ", ".join(f'"{text}"' for text in texts[:limit])
    return shown if len(texts) <= limit else f"{shown} and {len(texts) - limit} more"


def is_missing(value: object) -> bool:
    """Whether a value is null or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def text_of(value: object) -> str:
    """A value as hierarchy files write it."""
    if is_missing(value):
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


@dataclass(frozen=True)
class Hierarchy:
    """The tree of one attribute, over the values that it lists.

    `paths` has for each value its labels from level 0 up to the level below the top;
    `top` is the label of "any". `widths` is set for intervals, which fit any numbers:
    such a hierarchy may come without values, and gets them from `bind`.
    """

    name: str
    levels: int
    values: tuple[object, ...]
    paths: tuple[Labels, ...]
    top: str = ANY
    widths: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_depth(self.name, self.paths, depth=self.levels - 1)
        _check_values(self.name, self.paths)
        _check_parents(self.name, self.paths)

    @classmethod
    def flat(cls, name: str, values: Iterable[object]) -> Hierarchy:
        """Two levels: the value, or any."""
        kept = tuple(values)
        return cls(name, 2, kept, tuple((text_of(value),) for value in kept))

    @classmethod
    def intervals(
        cls, values: Iterable[object], widths: Sequence[float], *, name: str = "", top: str = ANY
    ) -> Hierarchy:
        """Numbers in half-open intervals, aligned to multiples of each width."""
        _check_widths(name, widths)
        kept = tuple(values)
        paths = tuple(
            (MISSING,) * (len(widths) + 1)
            if is_missing(value)
            else (text_of(value), *(band_label(_exact(name, value), width) for width in widths))
            for value in kept
        )
        return cls(name, len(widths) + 2, kept, paths, top, tuple(widths))

    @classmethod
    def from_csv(
        cls, path: str | Path, *, name: str | None = None, separator: str | None = None
    ) -> Hierarchy:
        """Reads the wide form. `separator` is found out (`;` or `,`) unless it is given.

        A last column that says the same everywhere is "any"; otherwise `*` is put on top.
        """
        name = Path(path).stem if name is None else name
        rows, top = _read_csv(Path(path), name, separator), ANY
        if len(rows[0]) > 1 and len({row[-1] for row in rows}) == 1:
            rows, top = [row[:-1] for row in rows], rows[0][-1]
        return cls(name, len(rows[0]) + 1, tuple(row[0] for row in rows), tuple(rows), top)

    @classmethod
    def from_toml(
        cls, source: str | Path | Mapping[str, object], *, name: str | None = None
    ) -> Hierarchy:
        """Reads the TOML form, from a file or from its parsed content."""
        if not isinstance(source, Mapping):
            name = Path(source).stem if name is None else name
            source = _read_toml(Path(source))
        name, forms = name or "", {"values", "widths", "groups"}
        for key in source:
            if key not in forms | {"any"}:
                problem = f'{attribute(name)}: "{key}" is not a key of a hierarchy'
                problem += f"{nearest(key, forms | {'any'})}."
                raise InputError("hierarchy-form", problem, _FORM_REMEDY)
        given = [key for key in source if key in forms]
        top = source.get("any", ANY)
        if len(given) != 1 or not isinstance(top, str):
            problem = f"{attribute(name)} has no clear form."
            raise InputError("hierarchy-form", problem, _FORM_REMEDY)
        body = source[given[0]]
        leaves: list[tuple[object, Labels]]
        if given == ["groups"] and isinstance(body, Mapping) and body:
            leaves = list(_leaves(body, (), name=name))
        elif given == ["values"] and isinstance(body, list) and body:
            leaves = [(value, ()) for value in body]
        elif given == ["widths"] and isinstance(body, list):
            return cls.intervals((), body, name=name, top=top)
        else:
            problem = f'{attribute(name)}: "{given[0]}" does not hold what it should.'
            raise InputError("hierarchy-form", problem, _FORM_REMEDY)
        paths = tuple((text_of(value), *above) for value, above in leaves)
        return cls(name, len(paths[0]) + 1, tuple(value for value, _ in leaves), paths, top)

    @property
    def height(self) -> int:
        """The level of the top; the H of the hierarchical distance."""
        return self.levels - 1

    def codes(self, level: int) -> Ints:
        """For each value, the number of its node at that level."""
        return self._nodes[level][0]

    def labels(self, level: int) -> list[str]:
        """The labels of a level's nodes, by number."""
        return list(self._nodes[level][1])

    def parent(self, level: int) -> Ints:
        """For each node of a level below the top, the number of its parent one level up."""
        first = np.unique(self.codes(level), return_index=True)[1]
        return self.codes(level + 1)[first]

    def bind(self, values: Iterable[object]) -> Hierarchy:
        """The same hierarchy over exactly these values of a table, in this order.

        Values meet by their text, so that both 20 and 20.0 find "20". Null (or NaN) is a
        value of its own, "(missing)", directly below the top. Nodes that lose all their
        values go; levels stay.
        """
        kept = tuple(values)
        if self.widths is not None:
            return Hierarchy.intervals(kept, self.widths, name=self.name, top=self.top)
        above = {path[0]: path[1:] for path in self.paths}
        missing = (MISSING,) * (self.height - 1)
        paths, unknown = [], []
        for value in kept:
            text = text_of(value)
            labels = missing if is_missing(value) else above.get(text, above.get(str(value)))
            paths.append((text, *(labels or ())))
            unknown += [text] if labels is None else []
        if unknown:
            problem = f"{attribute(self.name)} lacks the value {listing(unknown)}"
            problem += f"{nearest(unknown[0], above)}."
            raise InputError("hierarchy-values", problem, "Add it to the hierarchy.")
        return Hierarchy(self.name, self.levels, kept, tuple(paths), self.top)

    @cached_property
    def _nodes(self) -> list[tuple[Ints, Labels]]:
        """For each level, the node of every value and the label of every node."""
        nodes = []
        for level in range(self.levels):
            column = [path[level] if level < self.height else self.top for path in self.paths]
            number = {label: index for index, label in enumerate(dict.fromkeys(column))}
            codes = np.array([number[label] for label in column], dtype=np.int64)
            codes.flags.writeable = False
            nodes.append((codes, tuple(number)))
        return nodes


def read_hierarchy(path: str | Path, *, name: str | None = None) -> Hierarchy:
    """Reads a hierarchy file, CSV or TOML by its ending; named after the file by default."""
    ending = Path(path).suffix.lower()
    if ending == ".toml":
        return Hierarchy.from_toml(path, name=name)
    if ending in (".csv", ".tsv", ".txt"):
        separator = "\t" if ending == ".tsv" else None
        return Hierarchy.from_csv(path, name=name, separator=separator)
    problem = f'The hierarchy file "{path}" has an unknown ending.'
    raise InputError("hierarchy-file", problem, "Give a .csv, .tsv, .txt or .toml file.")


def adult_hierarchies() -> dict[str, Hierarchy]:
    """The hierarchies for UCI's Adult that come with shoal, by attribute."""
    folder = files("shoal.data.datasets") / "hierarchies" / "adult"
    contents = {
        entry.name.removesuffix(".toml"): tomllib.loads(entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }
    return {name: Hierarchy.from_toml(contents[name], name=name) for name in sorted(contents)}


def _check_values(name: str, paths: Sequence[Labels]) -> None:
    """Every value must stand there once."""
    times = Counter(path[0] for path in paths)
    twice = [text for text, count in times.items() if count > 1]
    if twice:
        apart = len({path for path in paths if path[0] in set(twice)}) > len(twice)
        how = "with different parents" if apart else "in repeated rows"
        problem = f"{attribute(name)}: {listing(twice)} given more than once, {how}."
        raise InputError("hierarchy-form", problem, "Give every value exactly once.")


def _check_parents(name: str, paths: Sequence[Labels]) -> None:
    """Every node of an inner level must lead to one and the same parent."""
    for level in range(1, len(paths[0]) - 1 if paths else 0):
        parent_of: dict[str, str] = {}
        for path in paths:
            node, parent = path[level], path[level + 1]
            if parent_of.setdefault(node, parent) != parent:
                problem = f'{attribute(name)}: "{node}" at level {level} lies below both '
                problem += f'"{parent_of[node]}" and "{parent}".'
                remedy = "Give the two nodes different labels, or the same parent."
                raise InputError("hierarchy-form", problem, remedy)


def _check_widths(name: str, widths: Sequence[float]) -> None:
    exact = [_exact(name, width) for width in widths]
    positive = bool(exact) and min(exact) > 0
    if not positive or any(
        wide <= narrow or (wide / narrow).denominator != 1 for narrow, wide in pairwise(exact)
    ):
        listed = ", ".join(str(width) for width in widths)
        problem = f"{attribute(name)}: the interval widths {listed} do not nest."
        remedy = "Give positive widths, each a multiple of the one before, such as 5, 10, 20."
        raise InputError("hierarchy-form", problem, remedy)


def _exact(name: str, value: object) -> Fraction:
    """The number as it is written, so that 0.3 is three times 0.1."""
    truth = isinstance(value, bool | np.bool_)
    if not truth and isinstance(value, Real) and math.isfinite(value):
        return Fraction(str(value))
    problem = f'{attribute(name)}: intervals need numbers, and "{value}" is none.'
    remedy = "Make the column numeric, or give a hierarchy of its values."
    raise InputError("hierarchy-values", problem, remedy)
