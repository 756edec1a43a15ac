"""What is known beforehand: views of the table, files from outside, fitted models."""

from __future__ import annotations

from shoal.knowledge.knowledge import (
    MAX_VIEWS,
    SUM_TOLERANCE,
    Knowledge,
    View,
    attribute_codes,
    count_values,
    table_distribution,
)

__all__ = [
    "MAX_VIEWS",
    "SUM_TOLERANCE",
    "Knowledge",
    "View",
    "attribute_codes",
    "count_values",
    "table_distribution",
]
