"""Groupings: who is published together, and what of it is seen."""

from __future__ import annotations

from shoal.groups.grouping import (
    SUPPRESSED,
    Anonymizer,
    FormName,
    Grouping,
    Progress,
    Recoding,
    silent,
)

__all__ = ["SUPPRESSED", "Anonymizer", "FormName", "Grouping", "Progress", "Recoding", "silent"]
