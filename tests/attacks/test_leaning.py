"""The attacker who reads leanings: told apart where they stand out, within limits where fitted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import shoal
from tests.attacks.test_attackers import attacked, marked, scene_of
from tests.release.test_leanings import people, spec_of


def test_whoever_leans_is_named() -> None:
    scene = scene_of(marked())
    leaning = np.where(scene.carriers > 0, 9.0, 1.0)
    found = attacked(replace(scene, leaning=leaning), "leaning")["leaning"]
    assert found.everybody.rate > 0.9
    none = attacked(scene, "leaning")
    assert [(one.attacker, one.reason) for one in none.not_run] == [
        ("leaning", "The release does not tell how people lean.")
    ]


@pytest.mark.parametrize("r", [4, 6])
def test_fitted_leanings_name_nobody_above_the_limit(r: int) -> None:
    release = shoal.anonymize(people(5, rows=12_000), spec_of(r=r), seed=1)
    assert release.leanings.height
    found = shoal.attack(release, attackers=["leaning"])
    assert found.withstood
    (one,) = found.findings
    assert one.everybody.tries > 200
    assert one.everybody.hits / one.everybody.tries < 1.2 / r
