"""Somebody else's release of Adult: distinct 10-diversity by ARX, and whom it exposes."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.auditing.align import Aligned, align_release
from shoal.auditing.audit import audit
from shoal.data.datasets import ADULT_EVENT, ADULT_QI, ADULT_SENSITIVE
from shoal.data.sources import read_table
from shoal.data.spec import Event, Spec
from shoal.data.table import Table

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def aligned(data_root: Path, adult_path: Path) -> Aligned:
    released = data_root / "third_party" / "arx_ldiversity10_local.csv.gz"
    if not released.is_file():
        pytest.skip(f"no release of another tool at {released}")
    spec = Spec(
        qi=ADULT_QI[:5],
        sensitive=ADULT_SENSITIVE,
        protect=(Event(ADULT_EVENT),),
        r=10,
        min_support=100,
    )
    frame = read_table(adult_path)
    other = read_table(released)
    return align_release(frame, other.drop(ADULT_SENSITIVE), spec)


def test_the_binary_adversary_exposes_most_carriers(aligned: Aligned) -> None:
    found = audit(aligned.table, aligned.grouping, adversary="binary")
    assert found.groups == 124
    assert found.views == 31
    assert found.robust is False
    assert found.problematic == 7733
    assert found.problematic_share == pytest.approx(0.588, abs=5e-4)
    assert found.worst_posterior == pytest.approx(0.739, abs=5e-4)
    assert found.exact_share == 1
    assert found.carriers == 1566


def test_the_joint_audit_ends_with_a_verdict(aligned: Aligned) -> None:
    """Over the views of one attribute; all 31 take a quarter of a minute."""
    table = aligned.table
    fewer = Table.from_frame(table.native, table.spec.with_(max_attributes=1))
    found = audit(fewer, aligned.grouping)
    assert found.views == 5
    assert found.robust is False
    assert found.posteriors["bound"] > found.posteriors["estimate"]
    assert found.problematic > 0
    assert found.undecided < 0.01 * found.published


def test_the_levels_that_it_spells_out_are_judged_as_published(
    data_root: Path, adult_path: Path
) -> None:
    released = data_root / "third_party" / "arx_ldiversity10_local.csv.gz"
    if not released.is_file():
        pytest.skip(f"no release of another tool at {released}")
    spec = Spec(qi=ADULT_QI[:1], sensitive=ADULT_SENSITIVE, protect=(Event(ADULT_EVENT),), r=10)
    table, grouping, _ = align_release(read_table(adult_path), read_table(released), spec)
    assert table.spec.publish_members
    assert grouping.shown is None
    assert grouping.count == len(set(read_table(released)["age"]))
