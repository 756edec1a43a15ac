"""A release: what is published of a table, and the proof that goes with it."""

from __future__ import annotations

from shoal.engines import GID
from shoal.release.release import Release

__all__ = ["GID", "Release"]
