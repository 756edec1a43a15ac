"""Engines: the only code that touches rows, behind one protocol."""

from __future__ import annotations

from shoal.engines.engine import Dealt, Engine
from shoal.engines.runs import GID, Runs


def default_engine() -> Engine:
    """The engine that is used where none is named."""
    from shoal.engines.polars import PolarsEngine

    return PolarsEngine()


__all__ = ["GID", "Dealt", "Engine", "Runs", "default_engine"]
