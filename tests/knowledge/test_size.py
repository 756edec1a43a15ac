"""What does not fit into memory, or takes long, is said before the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import memory
from shoal.auditing.adversaries.adversary import BOTH
from shoal.auditing.audit import audit
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.data.spec import InputWarning, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Knowledge, knowledge
from shoal.methods.art import Art

FRAME = pl.DataFrame({"q": ["a", "b"] * 200, "v": [str(i % 200) for i in range(400)]})
SPEC = Spec(qi="q", sensitive="v", r=2, min_support=50)
REMEDY = (
    "Name the events with protect, gather values that few people have (--recode v:rare=100), or "
    "limit the adversary with --max-attributes."
)
VERBS: list[Callable[..., Any]] = [
    shoal.anonymize,
    shoal.plan,
    lambda frame, spec: shoal.audit(frame, spec, groups=np.arange(400) // 4),
]


@pytest.mark.parametrize("verb", VERBS)
def test_too_many_values_for_the_memory(verb: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "allowed_memory", lambda: 10**4)
    with pytest.raises(InputError) as raised:
        verb(FRAME, SPEC)
    assert raised.value.code == "too-large"
    assert str(raised.value) == (
        '"v" has 200 values, each an event: to hold their distributions in 3 strata and chances '
        "for 2 combinations of QI values takes 32,000 bytes of memory, and 10,000 bytes may be "
        f"taken. {REMEDY}"
    )


def test_too_many_signatures_in_views_for_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "allowed_memory", lambda: 3)
    with pytest.raises(InputError) as raised:
        Knowledge.of(Table.from_frame(FRAME, SPEC))
    assert raised.value.code == "memory"
    assert raised.value.problem == (
        "To know the stratum of 2 combinations of QI values in 1 views takes 4 bytes of memory or "
        "more, and 3 bytes may be taken."
    )


@pytest.mark.parametrize("limit", ["absolute", "prior"])
def test_smaller_numbers_give_the_same_release(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search and audit do not ask how the classes of signatures are kept."""
    made = []
    for many in (knowledge.MANY_PLACES, 0):
        monkeypatch.setattr(knowledge, "MANY_PLACES", many)
        spec = Spec(
            qi=HOSPITAL_QI, sensitive=HOSPITAL_SENSITIVE, protect=HOSPITAL_EVENT, r=3, limit=limit
        )
        table = Table.from_frame(hospital(1500, 1), spec)
        known = Knowledge.of(table)
        assert {view.index.dtype for view in known.views} == {np.dtype("i4" if many else "u2")}
        grouping = Art(max_suppression=1, knowledge=known).anonymize(table)
        found = audit(table, grouping, knowledge=known, adversary=BOTH)
        made.append((grouping.group.tolist(), grouping.signature.tolist(), found.to_dict()))
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("verb", "groups", "needed"), [(VERBS[0], 66, "211,200"), (VERBS[2], 100, "320,000")]
)
def test_too_many_groups_for_the_memory(
    verb: Any, groups: int, needed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knowledge, "allowed_memory", lambda: 5 * 10**4)
    with pytest.raises(InputError) as raised:
        verb(FRAME, SPEC)
    assert raised.value.problem == (
        f'"v" has 200 values, each an event: to judge them in {groups} groups or so takes {needed} '
        "bytes of memory, and 50,000 bytes may be taken."
    )


def test_what_takes_long_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "MANY_STEPS", 200 * 400 - 1)
    with pytest.warns(InputWarning) as warned:
        VERBS[2](FRAME, SPEC)
    assert str(warned[0].message) == (
        f'"v" has 200 events: to judge them in 1 views of 400 people takes minutes. {REMEDY}'
    )
