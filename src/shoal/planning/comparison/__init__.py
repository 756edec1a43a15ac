"""Methods side by side on one table, with the paper's measures and those that it lacks."""

from __future__ import annotations

from shoal.planning.comparison.comparison import MEASURES, Comparison, Line, average

__all__ = ["MEASURES", "Comparison", "Line", "average"]
