"""What is known beforehand: views of the table, files from outside, fitted models."""

from __future__ import annotations

from shoal.knowledge.assumed import Assumed
from shoal.knowledge.attributes import MAX_VIEWS, attribute_codes, attribute_qi, known_attributes
from shoal.knowledge.fitted import Fitted, Quality
from shoal.knowledge.hiding import Hiding, Scarce
from shoal.knowledge.knowledge import (
    OWN,
    SUM_TOLERANCE,
    Knowledge,
    View,
    count_values,
    event_chances,
    known_values,
    seen_in,
    table_distribution,
    value_chances,
    whole_view,
    with_pool,
)
from shoal.knowledge.odds import (
    READERS,
    BinaryReader,
    JointReader,
    Reader,
    against,
    against_all_else,
    as_readers,
)
from shoal.knowledge.sides import Sides
from shoal.knowledge.size import check_groups, warn_of_time

__all__ = [
    "MAX_VIEWS",
    "OWN",
    "READERS",
    "SUM_TOLERANCE",
    "Assumed",
    "BinaryReader",
    "Fitted",
    "Hiding",
    "JointReader",
    "Knowledge",
    "Quality",
    "Reader",
    "Scarce",
    "Sides",
    "View",
    "against",
    "against_all_else",
    "as_readers",
    "attribute_codes",
    "attribute_qi",
    "check_groups",
    "count_values",
    "event_chances",
    "known_attributes",
    "known_values",
    "seen_in",
    "table_distribution",
    "value_chances",
    "warn_of_time",
    "whole_view",
    "with_pool",
]
