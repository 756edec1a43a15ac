"""A registry: things by their names, of three sources. shoal's own are imported when asked for, a
program adds its own, and other packages name theirs as entry points of a group."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any


@dataclass
class Registry:
    """Things of one kind."""

    group: str
    """The group of entry points."""
    own: dict[str, str]
    """Where shoal's own are: module:name."""
    added: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """What can be asked for: shoal's own first, then what was added."""
        points = (point.name for point in entry_points(group=self.group))
        return tuple(dict.fromkeys([*self.own, *sorted(self.added), *points]))

    def find(self, name: str) -> Any:
        """The thing of that name, or None."""
        if name in self.added:
            return self.added[name]
        if name in self.own:
            module, thing = self.own[name].split(":")
            return getattr(import_module(module), thing)
        points = entry_points(group=self.group)
        return next((point.load() for point in points if point.name == name), None)
