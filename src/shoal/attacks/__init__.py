"""The red team: attackers who name carriers in a release, and what they achieve.

The room does not know how groups are made; the insider is handed a way to make releases
(`Scene.remake`).
"""

from __future__ import annotations

from shoal.attacks.attacker import Attacker, Guesses, Matches, NotApplicableError
from shoal.attacks.finding import Attack, Finding
from shoal.attacks.lineup import Lineup
from shoal.attacks.rate import Rate
from shoal.attacks.registry import as_attackers, attacker_names, register
from shoal.attacks.run import run
from shoal.attacks.scene import Scene
from shoal.attacks.surest import Surest
from shoal.auditing.attacked import NotRun

__all__ = [
    "Attack",
    "Attacker",
    "Finding",
    "Guesses",
    "Lineup",
    "Matches",
    "NotApplicableError",
    "NotRun",
    "Rate",
    "Scene",
    "Surest",
    "as_attackers",
    "attacker_names",
    "register",
    "run",
]
