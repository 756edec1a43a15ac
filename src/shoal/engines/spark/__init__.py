"""The Spark engine: rows stay on the cluster; cells come here, and lines of tables go back.

Executors need no Python: whatever they do is said in Spark's own expressions.
"""

from __future__ import annotations

from shoal.engines.spark.engine import SparkEngine
from shoal.engines.spark.source import open_source

__all__ = ["SparkEngine", "open_source"]
