"""The files that hierarchies are written in: wide CSV and TOML, read into plain paths.

A CSV file has one row per value, levels from left to right, as ARX and sdcMicro have them.
A TOML file holds exactly one of

    values = ["Female", "Male"]                # value, any

    widths = [5, 10, 20]                       # numbers: value, [20, 25), .., any

    [groups]                                   # value, group, any; groups may nest, as
    Government = ["Federal-gov", "State-gov"]  # long as all values lie equally deep
    Private-sector = ["Private"]

and, if `*` is not wanted as the label of the top, `any = "all"`.
"""

from __future__ import annotations

import csv
import io
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.data.spec import MISSING
from shoal.data.spec.recipe import ANY
from shoal.errors import InputError, nearest
from shoal.memory import read_text

Labels = tuple[str, ...]
_FORM_REMEDY = (
    "A hierarchy has exactly one of: values (a list), widths (a list of numbers), or groups "
    '(a table of lists, or of tables of lists); and at most "any", a text, beside it.'
)


@dataclass(frozen=True)
class Outline:
    """What a file says: the values with their paths below the top, or interval widths."""

    values: tuple[object, ...]
    paths: tuple[Labels, ...]
    top: str = ANY
    widths: tuple[float, ...] | None = None


def parse_csv(path: Path, *, name: str, separator: str | None) -> Outline:
    """The wide form. `separator` is found out (`;` or `,`) unless it is given.

    A last column that says the same everywhere is "any"; otherwise `*` is put on top.
    """
    text = _read_text(path)
    rows = _split(text, separator) if separator else _sniff(text)
    if not rows:
        problem = f'The hierarchy file "{path}" has no rows.'
        raise InputError("hierarchy-form", problem, "Give one row for every value.")
    check_depth(name, rows, depth=len(rows[0]))
    if len(rows[0]) > 1 and len({row[-1] for row in rows}) == 1:
        paths, top = tuple(row[:-1] for row in rows), rows[0][-1]
    else:
        paths, top = tuple(rows), ANY
    return Outline(tuple(row[0] for row in paths), paths, top)


def parse_toml(path: Path, *, name: str) -> Outline:
    """The TOML form of a file."""
    try:
        content = tomllib.loads(_read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else f"no TOML: {error}"
        problem = f'The hierarchy file "{path}" is {why}.'
        raise InputError("hierarchy-form", problem, "Correct the file.") from None
    return parse_mapping(content, name=name)


def parse_mapping(content: Mapping[str, object], *, name: str) -> Outline:
    """The TOML form, once it has been read."""
    forms = {"values", "widths", "groups"}
    for key in content:
        if key not in forms | {"any"}:
            problem = f'{attribute(name)}: "{key}" is not a key of a hierarchy'
            problem += f"{nearest(key, forms | {'any'})}."
            raise InputError("hierarchy-form", problem, _FORM_REMEDY)
    given = [key for key in content if key in forms]
    top = content.get("any", ANY)
    if len(given) != 1 or not isinstance(top, str):
        raise InputError("hierarchy-form", f"{attribute(name)} has no clear form.", _FORM_REMEDY)
    body = content[given[0]]
    leaves: list[tuple[object, Labels]]
    if given == ["groups"] and isinstance(body, Mapping) and body:
        leaves = list(_leaves(body, (), name=name))
    elif given == ["values"] and isinstance(body, list) and body:
        leaves = [(value, ()) for value in body]
    elif given == ["widths"] and isinstance(body, list):
        return Outline((), (), top, tuple(body))
    else:
        problem = f'{attribute(name)}: "{given[0]}" does not hold what it should.'
        raise InputError("hierarchy-form", problem, _FORM_REMEDY)
    paths = tuple((text_of(value), *above) for value, above in leaves)
    return Outline(tuple(value for value, _ in leaves), paths, top)


def _leaves(
    groups: Mapping[str, object], above: Labels, *, name: str
) -> Iterator[tuple[object, Labels]]:
    """Every value with the labels above it, nearest first."""
    for label, body in groups.items():
        labels = (label, *above)
        if isinstance(body, Mapping):
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
