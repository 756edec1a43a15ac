"""The DuckDB engine: files within a limit of memory, and tables of databases where they are."""

from __future__ import annotations

from shoal.engines.duckdb.engine import DuckDBEngine

__all__ = ["DuckDBEngine"]
