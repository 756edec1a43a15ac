"""Groups with the same content are judged once: every figure is that of all of them, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.auditing.adversaries.adversary import BOTH
from shoal.auditing.audit import audit
from shoal.data import datasets
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from shoal.groups.partition import Partition
from shoal.methods.art import Art

SPEC = Spec(
    qi=("sex", "region"),
    sensitive="diagnosis",
    protect=(datasets.HOSPITAL_EVENT,),  # type: ignore[arg-type]
    r=4,
    min_support=20,
)
TABLE = Table.from_frame(datasets.hospital(12_000, seed=1), SPEC)


def one_by_one(grouping: Grouping) -> Grouping:
    """The same groups without copies, but for people alone."""
    times = np.where(grouping.sizes > 1, grouping.copies, 1)
    first = np.cumsum(times) - times
    line = np.repeat(np.arange(len(grouping.group)), times[grouping.group])
    group = first[grouping.group[line]]
    group += np.arange(len(line)) - np.searchsorted(line, line)
    return Grouping.of_lines(
        TABLE,
        group.astype(np.int32),
        grouping.signature[line],
        grouping.value[line],
        grouping.rows[line],
        copies=np.repeat(np.where(grouping.sizes > 1, 1, grouping.copies), times),
        pooled=None if grouping.pooled is None else np.repeat(grouping.pooled, times),
    )


@pytest.mark.parametrize("limit", ["absolute", "prior"])
@pytest.mark.parametrize("r", [2.0, 4.0, 9.0])
@pytest.mark.parametrize("seed", range(3))
def test_copies_are_judged_as_groups_one_by_one(limit: str, r: float, seed: int) -> None:
    """Also at an r that the groups were not made for, so that some of them breach it. Cells of a
    given size do without a matched sample, whose groups are hardly ever alike."""
    made = Art(max_suppression=1, cell=8).anonymize(TABLE, seed=seed)
    assert (made.copies[made.sizes > 1] > 1).sum() > 10
    apart = one_by_one(made)
    assert apart.count == made.count
    fast, slow = (
        audit(TABLE, grouping, adversary=BOTH, r=r, limit=limit)  # type: ignore[arg-type]
        for grouping in (made, apart)
    )
    plain, expected = fast.to_dict(), slow.to_dict()
    for figures in (plain, expected):
        figures.pop("worst", None)
        figures.pop("worst_by_event", None)
    assert_near(plain, expected)
    assert fast.worst_posterior == slow.worst_posterior
    assert fast.problematic_carriers == slow.problematic_carriers


def assert_near(one: object, other: object) -> None:
    if isinstance(one, dict):
        assert isinstance(other, dict)
        assert one.keys() == other.keys()
        for key in one:
            assert_near(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert isinstance(other, list | tuple)
        assert len(one) == len(other)
        for mine, its in zip(one, other, strict=True):
            assert_near(mine, its)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    else:
        assert one == other


def test_every_copy_has_its_pairs() -> None:
    made = Art(max_suppression=1, cell=8).anonymize(TABLE, seed=2)
    part = Partition.of(TABLE, made)
    assert part.all_groups == made.count
    assert int(part.pair_people.sum()) + part.alone == made.published
    number = np.repeat(part.group_number, part.copies) + np.concatenate(
        [np.arange(copies) for copies in part.copies]
    )
    group = np.repeat(np.arange(part.groups), part.copies)
    signature = part.signature[part.pairs.start[group]]
    assert part.find_pairs(number, signature).tolist() == part.pairs.start[group].tolist()
    others = np.setdiff1d(np.arange(-1, part.all_groups), number)
    assert (part.find_pairs(others, np.zeros(len(others), np.int32)) == -1).all()
