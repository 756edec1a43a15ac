"""Outside knowledge: an adversary's distributions that come from a file, not from the table."""

from __future__ import annotations

from shoal.knowledge.outside.read import read_knowledge

__all__ = ["read_knowledge"]
