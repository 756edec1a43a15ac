"""ART: the paper's algorithm, verified against the adversary that the paper defines."""

from __future__ import annotations

from shoal.methods.art.art import Art

__all__ = ["Art"]
