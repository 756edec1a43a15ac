"""The registry: every method by its name, with the parameters that it takes and what they mean.

A method is a frozen dataclass with a `name` and an `anonymize(table, *, seed, progress)` that
returns a Grouping; its fields are its parameters, and the text below a field says what it means.
shoal's own are listed here. Other packages add theirs by an entry point of the group
`shoal.anonymizers`, and a program can add one with `register`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.declared import Parameter, fields_of
from shoal.errors import InputError, unknown
from shoal.registry import Registry

if TYPE_CHECKING:
    from shoal.data.table import Table
    from shoal.groups import Anonymizer
    from shoal.knowledge import Knowledge, Reader

_OWN = {
    "art": "shoal.methods.art:Art",
    "anatomy": "shoal.methods.anatomy:Anatomy",
    "mask": "shoal.methods.mask:Mask",
    "injector": "shoal.methods.injector:Injector",
    "t-closeness": "shoal.methods.tcloseness:TCloseness",
    "mondrian": "shoal.methods.mondrian:Mondrian",
}
_METHODS = Registry("shoal.anonymizers", _OWN)
PAPER_METHODS = ("art", "anatomy", "mask", "injector", "t-closeness")
"""Those that the paper compares."""


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
        raise InputError("method-class", f'shoal has a method "{name}".', "Choose another name.")
    _METHODS.added[name] = kind
    return kind


def method_names() -> tuple[str, ...]:
    """The methods that can be asked for: shoal's own first, then those added."""
    return _METHODS.names


def method_class(name: str) -> type[Any]:
    """The class of a method, imported when it is asked for."""
    found: type[Any] | None = _METHODS.find(name)
    if found is not None:
        return found
    raise unknown("method", f'There is no method "{name}"', name, method_names())


def parameters_of(name: str) -> tuple[Parameter, ...]:
    """A method's parameters, in the order of its class. Of shoal's own methods they are read from
    the source, so that a command's help needs nothing that computes."""
    kind = _OWN[name].split(":")[1] if name in _OWN else method_class(name).__name__
    return tuple(fields_of(_source_of(name), kind))


def make_method(name: str, parameters: Mapping[str, Any] | None = None) -> Anonymizer:
    """A method by its name, with its parameters checked."""
    kind = method_class(name)
    known = [field.name for field in fields(kind)]
    for key in parameters or {}:
        if key not in known:
            problem = f'The method "{name}" has no parameter "{key}"'
            raise unknown("method-parameter", problem, key, known)
    return kind(**(parameters or {}))  # type: ignore[no-any-return]


def check_columns(method: Anonymizer, table: Table) -> None:
    """An InputError if a table has more sensitive columns than the method knows."""
    if table.several is not None and not getattr(method, "takes_several", False):
        raise InputError(
            "method-several",
            f"The method {method.name} knows one sensitive column, and there are "
            f"{len(table.several.columns)}.",
            "Use the method art, or a spec with one of them.",
        )


def inform(
    method: Anonymizer,
    *,
    knowledge: Knowledge | None = None,
    readers: Sequence[Reader] | None = None,
) -> Anonymizer:
    """The method with the knowledge and the readers that it is to search against, as far as it
    takes them."""
    if knowledge is not None and hasattr(method, "knowledge"):
        if method.knowledge not in (None, knowledge):
            raise InputError(
                "knowledge-other",
                "The method has another knowledge of its own.",
                "Give one of them.",
            )
        method = replace(method, knowledge=knowledge)  # type: ignore[type-var]
    if readers is not None and hasattr(method, "readers"):
        method = replace(method, readers=tuple(readers))  # type: ignore[type-var]
    return method


def _source_of(name: str) -> str:
    if name in _OWN and name not in _METHODS.added:
        folder = _OWN[name].split(":")[0].rsplit(".", 1)[1]
        return (Path(__file__).parent / folder / f"{folder}.py").read_text(encoding="utf-8")
    return inspect.getsource(method_class(name))
