"""The runner: every attacker on one scene, as long as time allows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from shoal.attacks.attacker import Attacker, NotApplicableError
from shoal.attacks.finding import Attack, Finding, NotRun
from shoal.attacks.scene import Scene
from shoal.attacks.scoring import score
from shoal.attacks.wording import sentence
from shoal.groups import Progress, silent


def run(scene: Scene, attackers: Sequence[Attacker], *, progress: Progress = silent) -> Attack:
    """What each attacker achieves. Whoever has no time left, or cannot try, is named as such."""
    found: list[Finding] = []
    left_out: list[NotRun] = []
    started = time.monotonic()
    for done, attacker in enumerate(attackers):
        progress(f"attacking: {attacker.name}", done, len(attackers))
        begun = time.monotonic()
        if scene.late:
            left_out.append(NotRun(attacker.name, "The time budget was spent."))
            continue
        try:
            one = score(scene, attacker, attacker.attack(scene))
        except NotApplicableError as reason:
            left_out.append(NotRun(attacker.name, str(reason)))
            continue
        found.append(replace(one, seconds=time.monotonic() - begun))
    findings = [replace(one, attackers=max(1, len(found))) for one in found]
    return Attack(
        findings=tuple(replace(one, sentence=sentence(one)) for one in findings),
        not_run=tuple(left_out),
        limit=scene.limit,
        seed=scene.seed,
        seconds=time.monotonic() - started,
    )
