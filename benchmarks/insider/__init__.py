"""Insiders: attackers who know how groups are made, and name a carrier in each."""

from __future__ import annotations

from benchmarks.insider.attack import attack
from benchmarks.insider.finding import Finding
from shoal.attacks import Rate

__all__ = ["Finding", "Rate", "attack"]
