"""A table of people, coded as integers and compressed to signatures."""

from __future__ import annotations

from shoal.table.table import (
    DIRECT_KEYS,
    Column,
    IntArray,
    Table,
    code_column,
    factorize,
)

__all__ = ["DIRECT_KEYS", "Column", "IntArray", "Table", "code_column", "factorize"]
