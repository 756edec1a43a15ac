"""Frozen records as plain data, and back: what JSON holds of a dataclass, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
UNSAID = {"unsaid": True}
"""Metadata of a field that plain data leaves out while it is None."""


def plain(value: Any) -> Any:
    """A record as plain data, field by field; with what its class lists as `ALSO`. A name that
    Python has taken stands in a class with a stroke behind it."""
    if is_dataclass(value):
        names = [one.name for one in fields(value) if not _left_out(one, value)]
        names += getattr(value, "ALSO", ())
        return {name.rstrip("_"): plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def typed(kind: type[T], data: Any) -> T:
    """The record of plain data, or of another record; a field that `kind` does not declare is left
    behind. A ValueError if something is missing, or of another type."""
    return cast("T", _typed(kind, data))


def _typed(kind: Any, data: Any) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if data is None and NoneType in parts:
            return None
        known = tuple(part for part in parts if part is not NoneType)
        return _typed(known[0], data) if len(known) == 1 else _one_of(known, data)
    if is_dataclass(kind):
        return _record(cast("type", kind), data)
    if origin is tuple and isinstance(data, list | tuple):
        each = parts[:1] * len(data) if parts[-1] is Ellipsis else parts
        return tuple(_typed(part, one) for part, one in zip(each, data, strict=True))
    if origin is dict and isinstance(data, Mapping):
        return {key: _typed(parts[1], one) for key, one in data.items()}
    if kind is Any or (origin is Literal and data in parts):
        return data
    return _one_of((kind,), data)


def _one_of(kinds: tuple[Any, ...], data: Any) -> Any:
    """The same number, text or truth; a whole number is a float too, and no truth is a number."""
    usual = (*kinds, int) if float in kinds else kinds
    if not isinstance(data, usual) or (isinstance(data, bool) and bool not in kinds):
        raise ValueError(f"{data!r} is none of {kinds}")
    return data


def _record(kind: type, data: Any) -> Any:
    given = data
    if is_dataclass(data):
        given = {one.name.rstrip("_"): getattr(data, one.name) for one in fields(data)}
    if not isinstance(given, Mapping):
        raise ValueError(f"{data!r} is no {kind.__name__}")
    try:
        hints = _hints(kind)
        known = {name: given[name.rstrip("_")] for name in hints if name.rstrip("_") in given}
        return kind(**{name: _typed(hints[name], one) for name, one in known.items()})
    except TypeError as error:
        raise ValueError(str(error)) from None


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind)}


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; no name in it may stand twice, for readers would take one or the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _left_out(one: Any, value: Any) -> bool:
    return "unsaid" in one.metadata and getattr(value, one.name) is None
