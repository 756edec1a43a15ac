"""Methods that hide less than they say: Anatomy, and ART as the paper has it. The team gets through
both of them, and does best where it is surest."""

from __future__ import annotations

from typing import Any

import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, hospital

WEAK: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "Anatomy": ("anatomy", {"l": 5}, ["counter-class", "counter-odds", "counter-all"]),
    "the paper's variant": ("art", {"condition": "bound"}, ["counter-all", "informed", "insider"]),
}


@pytest.mark.parametrize("weak", WEAK)
def test_a_weak_release_is_beaten(weak: str) -> None:
    method, parameters, team = WEAK[weak]
    spec = shoal.Spec(
        qi=("age", "sex", "region"), sensitive="diagnosis", protect=(HOSPITAL_EVENT,), r=5
    )
    release = shoal.anonymize(hospital(6_000, seed=1), spec, method=method, seed=1, **parameters)
    found = shoal.attack(release, attackers=team)
    assert found.beaten == tuple(team), found
    for one in found.findings:
        told = {some.people: some for some in one.surest if some.among == "unknown"}
        assert told[50].right > 2 * told[50].without
        assert one.sentence.endswith("The limit is beaten.")
