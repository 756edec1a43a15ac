"""The chance that any row of a person has an event, against all worlds of the published groups."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest

from shoal.auditing.audit import audit
from shoal.data.spec import Limit, Spec
from shoal.data.table import Table
from shoal.knowledge import Knowledge, View, event_chances, known_values, whole_view
from tests.oracle.persons import any_row

VALUES = ("H", "x", "y")


def people(seed: int, rows: int = 12) -> tuple[pl.DataFrame, list[int]]:
    """A table with one to three rows a person, and groups of two to four rows."""
    draw = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "who": draw.integers(0, 6, rows).astype(str),
            "a": draw.integers(0, 2, rows),
            "b": draw.integers(0, 2, rows),
            "ill": [str(one) for one in draw.choice(VALUES, rows, p=[0.3, 0.4, 0.3])],
        }
    )
    return frame, [int(one) for one in draw.permutation(np.arange(rows) // 3)]


def chances(
    table: Table, groups: list[int], view: View, event: int, *, by_value: bool
) -> dict[int, float]:
    """By person: the chance that some row has the event; whoever tells the event from the rest
    only takes other values for one."""
    at = view.index[table.row_signature]
    if by_value:
        own = np.flatnonzero(table.holds(event)).tolist()
        values = table.row_value.tolist()
        return any_row(view.distributions[at].tolist(), values, groups, owners(table), own)
    chance = event_chances(view, table)[at, event]
    told = np.column_stack([chance, 1 - chance]).tolist()
    has = (~table.holds(event)[table.row_value]).astype(int).tolist()
    return any_row(told, has, groups, owners(table), {0})


def owners(table: Table) -> list[int]:
    assert table.persons is not None
    assert table.persons.of_row is not None
    return [int(one) for one in table.persons.of_row]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("reader", ["joint", "binary"])
@pytest.mark.parametrize("protect", [["H"], ["H", "x"]], ids=len)
@pytest.mark.parametrize("limit", ["absolute", "prior"])
def test_never_above_what_is_stated(
    seed: int, reader: str, protect: list[str], limit: Limit
) -> None:
    frame, groups = people(seed)
    if not {*protect} <= {*frame["ill"]}:
        pytest.skip("nobody has the event")
    spec = Spec(qi=["a", "b"], sensitive="ill", protect=protect, r=2, min_support=3, person="who")
    table = Table.from_frame(frame, spec)
    known = Knowledge.of(table)
    verdict = audit(table, groups, knowledge=known, adversary=reader, limit=limit).persons
    assert verdict is not None
    owner, several, above = owners(table), set[int](), set[int]()
    holding = {g for g, e in zip(groups, table.row_event, strict=True) if e >= 0}
    often = Counter(p for p, g in zip(owner, groups, strict=True) if g in holding)
    several = {person for person, count in often.items() if count > 1}
    # The whole table is judged beside the views, but for the limit prior.
    views = [*known.views, *([whole_view(known_values(table))] if limit == "absolute" else [])]
    for view, event in itertools.product(views, range(len(table.events))):
        before = event_chances(view, table)[view.index, event][table.row_signature]
        truth = chances(table, groups, view, event, by_value=reader == "joint")
        for person in several:
            mine = [1 - f for f, p in zip(before, owner, strict=True) if p == person]
            most = max(0.5, 1 - math.prod(mine)) if limit == "prior" else 0.5
            assert truth[person] <= verdict.worst + 1e-9
            if truth[person] > most + 2e-9:
                above.add(person)
    assert verdict.several == len(several)
    # Whoever is above the limit is called so, or left open; nobody else is called so.
    assert verdict.above <= len(above) <= verdict.above + verdict.undecided
    if reader == "binary":
        assert verdict.undecided == 0


def test_several_rows_beside_several_cases_are_decided() -> None:
    """The sum of two chances of 1/2 is above 4/5, and the chance of any of two is not: 1 - 1/6."""
    frame = pl.DataFrame(
        {"who": [*"ppabqqcd"], "a": [1] * 8, "ill": [*"HxHxHxHx"], "group": [0] * 4 + [1] * 4}
    )
    spec = Spec(qi=["a"], sensitive="ill", protect=["H"], r=1.2, min_support=2, person="who")
    for r, kept in ((1.2, True), (1.21, False)):
        table = Table.from_frame(frame.drop("group"), spec.with_(r=r))
        verdict = audit(table, frame["group"], adversary=("joint", "binary")).persons
        assert verdict is not None
        assert (verdict.kept, verdict.undecided, verdict.several) == (kept, 0, 2)
        assert verdict.worst == pytest.approx(5 / 6)


def test_exact_where_a_person_has_one_row_in_each_group() -> None:
    frame = pl.DataFrame(
        {
            "who": ["p", "p", "a", "b", "c", "d"],
            "a": [1, 1, 1, 1, 1, 1],
            "ill": ["H", "x", "x", "x", "H", "x"],
        }
    )
    spec = Spec(qi=["a"], sensitive="ill", protect=["H"], r=2, min_support=2, person="who")
    table = Table.from_frame(frame, spec)
    verdict = audit(table, [0, 1, 0, 0, 1, 1], adversary="joint").persons
    assert verdict is not None
    assert verdict.worst == pytest.approx(1 - (2 / 3) ** 2)
    assert verdict.above == 1
    assert verdict.kept is False


def test_what_was_known_of_all_rows_is_no_breach_under_the_limit_prior() -> None:
    frame = pl.DataFrame({"who": ["p", "p", *"abcd"], "a": [1] * 6, "ill": list("HxxHxx")})
    spec = Spec(qi=["a"], sensitive="ill", protect=["H"], r=3, min_support=2, person="who")
    table = Table.from_frame(frame, spec)
    groups = [0, 1, 0, 1, 0, 1]
    strict = audit(table, groups, adversary="joint").persons
    prior = audit(table, groups, adversary="joint", limit="prior").persons
    assert strict is not None
    assert prior is not None
    assert strict.kept is False
    assert prior.kept is True


def test_rows_that_nobody_dealt_are_not_decided() -> None:
    from shoal.groups import Grouping

    frame = pl.DataFrame({"who": [*"ppabcd"], "a": [1] * 6, "ill": list("HxxHxx")})
    spec = Spec(qi=["a"], sensitive="ill", protect=["H"], r=2, min_support=2, person="who")
    table = Table.from_frame(frame, spec)
    grouping = Grouping.of_rows(table, np.zeros(6, np.int32))
    found = audit(table, grouping)
    assert found.persons is not None
    assert found.persons.kept is None
    assert found.robust is None
