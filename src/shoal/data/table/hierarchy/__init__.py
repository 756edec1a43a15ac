"""Generalization hierarchies: for one attribute, how values roll up to "any"."""

from __future__ import annotations

from shoal.data.table.hierarchy.hierarchy import (
    Hierarchy,
    adult_hierarchies,
    read_hierarchy,
)

__all__ = [
    "Hierarchy",
    "adult_hierarchies",
    "read_hierarchy",
]
