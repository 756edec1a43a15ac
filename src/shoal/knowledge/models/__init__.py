"""Fitted models as knowledge: a distribution for every signature, from all attributes at once."""

from __future__ import annotations

from shoal.knowledge.models.crossfit import FOLDS, fit_model
from shoal.knowledge.models.smoothing import BANDWIDTH, Kernel, kernel_estimate

__all__ = ["BANDWIDTH", "FOLDS", "Kernel", "fit_model", "kernel_estimate"]
