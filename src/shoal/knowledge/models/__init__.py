"""Fitted models as knowledge: a distribution for every signature, from all attributes at once."""

from __future__ import annotations

from shoal.knowledge.models.smoothing import BANDWIDTH, kernel_estimate

__all__ = ["BANDWIDTH", "kernel_estimate"]
