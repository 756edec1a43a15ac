"""The engines' names, for whoever must not import them yet."""

from __future__ import annotations

ENGINES = ("polars", "duckdb", "spark")
