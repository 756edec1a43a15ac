"""Proposes a spec for a table: a guess at every column's role, each with its reason."""

from __future__ import annotations

from shoal.planning.propose.guess import propose_spec
from shoal.planning.propose.proposal import Guess, Proposal

__all__ = ["Guess", "Proposal", "propose_spec"]
