"""The attacker who reads weights: right where these point at cases, else as right as they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import shoal
from shoal.attacks import Scene
from shoal.data.table import Table
from shoal.knowledge import Knowledge
from tests.attacks.test_attackers import attacked
from tests.release.weighed import SPEC, Weighed, people


def scene() -> Scene:
    table = Table.from_frame(people(1, rows=3_000), SPEC)
    return Scene(table, Weighed().anonymize(table, seed=2), Knowledge.of(table))


def test_whoever_counts_as_most_is_named() -> None:
    told = scene()
    case = told.table.value_event[told.grouping.value] >= 0
    pointed = replace(told.grouping, weight=np.where(case, 1.0, 0.0))
    found = attacked(replace(told, grouping=pointed), "weight")["weight"]
    assert found.everybody.rate == 1.0
    none = attacked(replace(told, grouping=replace(told.grouping, weight=None)), "weight")
    assert [(one.attacker, one.reason) for one in none.not_run] == [
        ("weight", "The release publishes no weights.")
    ]


def test_people_of_a_signature_are_told_apart_by_weight() -> None:
    lineup = scene().lineup
    assert lineup.weight is not None
    keys = list(zip(lineup.question.tolist(), lineup.signature.tolist(), strict=True))
    assert len(set(keys)) < len(keys)
    assert not lineup.carrying[lineup.weight == 0].any()
    assert lineup.carrying.sum() == scene().carriers.sum()


def test_in_a_release() -> None:
    release = shoal.anonymize(people(1, rows=3_000), SPEC, method=Weighed(), seed=2)
    (one,) = shoal.attack(release, attackers=["weight"]).findings
    assert 0.1 < one.everybody.hits / one.everybody.tries < 0.35
