"""A table of people, coded as integers and compressed to signatures."""

from __future__ import annotations

from shoal.arrays import IntArray
from shoal.data.table.coding import Column, code_column, digits, factorize
from shoal.data.table.table import Everybody, Table

__all__ = ["Column", "Everybody", "IntArray", "Table", "code_column", "digits", "factorize"]
