"""The registry: every method by its name, with the parameters that it takes and what they mean.

A method is a frozen dataclass with a `name` and an `anonymize(table, *, seed, progress)` that
returns a Grouping; its fields are its parameters, and the text below a field says what it means.
shoal's own are listed here. Other packages add theirs by an entry point of the group
`shoal.anonymizers`, and a program can add one with `register`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from importlib import import_module
from importlib.metadata import entry_points
from itertools import pairwise
from typing import Any

from shoal.errors import InputError, nearest
from shoal.grouping import Anonymizer

ENTRY_POINTS = "shoal.anonymizers"

_OWN = {
    "art": "shoal.anonymizers.art:Art",
    "anatomy": "shoal.anonymizers.anatomy:Anatomy",
    "mask": "shoal.anonymizers.mask:Mask",
    "injector": "shoal.anonymizers.injector:Injector",
    "t-closeness": "shoal.anonymizers.tcloseness:TCloseness",
    "mondrian": "shoal.anonymizers.mondrian:Mondrian",
}
_added: dict[str, type[Any]] = {}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method."""

    name: str
    type: str
    default: Any
    help: str


def register(kind: type[Any]) -> type[Any]:
    """Adds a method (a frozen dataclass with a `name`) for this program; usable as a decorator."""
    name = getattr(kind, "name", None)
    if not is_dataclass(kind) or not isinstance(name, str) or not hasattr(kind, "anonymize"):
        raise InputError(
            "method-class",
            f"{kind!r} is no method.",
            "Give a frozen dataclass with a name and a method anonymize(table, *, seed, progress).",
        )
    if name in _OWN:
        raise InputError("method-taken", f'shoal has a method "{name}".', "Choose another name.")
    _added[name] = kind
    return kind


def method_names() -> tuple[str, ...]:
    """The methods that can be asked for: shoal's own first, then those added."""
    names = dict.fromkeys([*_OWN, *sorted(_added), *(point.name for point in _points())])
    return tuple(names)


def method_class(name: str) -> type[Any]:
    """The class of a method, imported when it is asked for."""
    if name in _added:
        return _added[name]
    if name in _OWN:
        module, kind = _OWN[name].split(":")
        return getattr(import_module(module), kind)  # type: ignore[no-any-return]
    for point in _points():
        if point.name == name:
            return point.load()  # type: ignore[no-any-return]
    names = method_names()
    raise InputError(
        "method",
        f'There is no method "{name}"{nearest(name, names)}.',
        f"Methods: {', '.join(names)}.",
    )


def parameters_of(name: str) -> tuple[Parameter, ...]:
    """A method's parameters, in the order of its class."""
    kind = method_class(name)
    help_of = _field_texts(kind)
    return tuple(
        Parameter(
            field.name,
            str(field.type),
            None if field.default is MISSING else field.default,
            help_of.get(field.name, ""),
        )
        for field in fields(kind)
    )


def make_method(name: str, parameters: Mapping[str, Any] | None = None) -> Anonymizer:
    """A method by its name, with its parameters checked."""
    kind = method_class(name)
    known = [field.name for field in fields(kind)]
    for key in parameters or {}:
        if key not in known:
            raise InputError(
                "method-parameter",
                f'The method "{name}" has no parameter "{key}"{nearest(key, known)}.',
                f"Its parameters: {', '.join(known)}.",
            )
    return kind(**(parameters or {}))  # type: ignore[no-any-return]


def _points() -> Any:
    return entry_points(group=ENTRY_POINTS)


def _field_texts(kind: type[Any]) -> dict[str, str]:
    """The text that stands below each field of a class, if its source is at hand."""
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):
        return {}
    return dict(_described(ast.parse(source).body[0]))


def _described(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    body = getattr(statement, "body", [])
    for field, text in pairwise(body):
        named = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if named and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            yield field.target.id, " ".join(str(text.value.value).split())
