"""A release: what is published of a table, and the proof that goes with it."""

from __future__ import annotations

from shoal.release.release import GID, Release

__all__ = ["GID", "Release"]
