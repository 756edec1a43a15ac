"""Mondrian: k-anonymity by cutting the table's space into boxes."""

from __future__ import annotations

from shoal.methods.mondrian.mondrian import (
    Mondrian,
)

__all__ = [
    "Mondrian",
]
