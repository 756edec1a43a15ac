"""The honest limit: 1/r, or what a view says before publication, against its slow twin."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from shoal.auditing.audit import audit
from shoal.data.spec import Spec
from shoal.data.table import Table
from tests.auditing.test_audit import PROTECT, groups_of, random_case
from tests.oracle import audit as oracle
from tests.oracle.classes import absence, counter


@pytest.mark.parametrize("adversary", ["joint", "binary"])
@pytest.mark.parametrize("protect", list(PROTECT))
@pytest.mark.parametrize("members", [False, True])
def test_the_honest_limit_agrees_with_its_slow_twin(
    members: bool, protect: str, adversary: Any
) -> None:
    """Links as strong as they were before are no breach; the stricter limit finds no fewer."""
    spared = 0
    for seed in range(15):
        table, grouping, case = random_case(
            seed, protect, adversary=adversary, members=members, prior=True
        )
        found, expected = audit(table, grouping, adversary=adversary), oracle.audit(case)
        absolute = audit(table, grouping, adversary=adversary, limit="absolute")
        told = audit(table, grouping, adversary=adversary, rows=groups_of(case)).frame
        for j, line in enumerate(told.iter_rows(named=True)):
            if not expected.tied[j]:
                assert line["problematic"] == expected.problematic[j], j
                assert ((line["exposure"] or 0) > 1 + 1e-9) == expected.problematic[j], j
        if not any(expected.tied):
            told = counter(case)
            counted = absence(case).classes or told.classes or told.certain
            assert found.robust is (not any(expected.problematic) and not counted)
            assert found.problematic == sum(expected.problematic)
        assert found.worst_posterior == max(w.posterior for w in found.worst_by_event.values())
        spared += absolute.problematic - found.problematic
        assert absolute.problematic >= found.problematic
    assert spared > 0 or protect not in ("set", "several"), "nothing to tell the limits apart"


def test_a_class_published_as_one_group_tells_what_was_known() -> None:
    frame = pl.DataFrame({"q": list("aaaabbbbbb"), "x": list("zzyyzyyyyy")})
    spec = Spec(qi=["q"], sensitive="x", protect=["z"], r=5, min_support=2, limit="prior")
    found = audit(Table.from_frame(frame, spec), [0] * 4 + [1] * 6, adversary=["joint", "binary"])
    assert found.robust is True
    assert found.limit == "prior"
    assert found.worst is not None
    assert found.worst.posterior == 0.5
