"""The runner: every attacker on one scene, as long as time allows, two at once where there are
cores. Each has random numbers of its own, so that nobody makes a difference to others."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace

from shoal.attacks.attacker import Attacker, NotApplicableError
from shoal.attacks.finding import Attack, Finding, sentence
from shoal.attacks.scene import Scene
from shoal.attacks.scoring import score
from shoal.auditing.attacked import NotRun
from shoal.groups import Progress, silent

AT_ONCE = 2
"""More would hold more memory."""


def run(scene: Scene, attackers: Sequence[Attacker], *, progress: Progress = silent) -> Attack:
    """What each attacker achieves. Whoever has no time left, or cannot try, is named as such."""
    started, told = time.monotonic(), list[Finding | NotRun]()
    with ThreadPoolExecutor(min(AT_ONCE, os.cpu_count() or 1)) as pool:
        tries = [pool.submit(copy_context().run, _tried, scene, one) for one in attackers]
        try:
            for done, (attacker, one) in enumerate(zip(attackers, tries, strict=True)):
                progress(f"attacking: {attacker.name}", done, len(attackers))
                told.append(one.result())
        finally:
            for left in tries:
                left.cancel()
    found = [one for one in told if isinstance(one, Finding)]
    findings = [replace(one, attackers=max(1, len(found))) for one in found]
    return Attack(
        findings=tuple(replace(one, sentence=sentence(one)) for one in findings),
        not_run=tuple(one for one in told if isinstance(one, NotRun)),
        limit=scene.limit,
        seed=scene.seed,
        seconds=time.monotonic() - started,
    )


def _tried(scene: Scene, attacker: Attacker) -> Finding | NotRun:
    begun = time.monotonic()
    if scene.late:
        return NotRun(attacker.name, "The time budget was spent.")
    try:
        found = score(scene, attacker, attacker.attack(scene))
    except NotApplicableError as reason:
        return NotRun(attacker.name, str(reason))
    return replace(found, seconds=time.monotonic() - begun)
