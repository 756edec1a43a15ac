"""t-closeness by full-domain generalization."""

from __future__ import annotations

from shoal.methods.tcloseness.tcloseness import (
    TCloseness,
)

__all__ = [
    "TCloseness",
]
