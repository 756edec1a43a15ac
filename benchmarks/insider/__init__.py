"""Insiders: attackers who know how groups are made, and name a carrier in each."""

from __future__ import annotations

from benchmarks.insider.attack import attack
from benchmarks.insider.rate import Finding, Rate

__all__ = ["Finding", "Rate", "attack"]
