"""MASK: generalization, then distortion where an event is too frequent."""

from __future__ import annotations

from shoal.methods.mask.mask import (
    Mask,
)

__all__ = [
    "Mask",
]
