"""Methods side by side on one table, with the paper's measures and those that it lacks."""

from __future__ import annotations

from shoal.planning.comparison.comparison import MEASURES, Comparison, MethodLine, average

__all__ = ["MEASURES", "Comparison", "MethodLine", "average"]
