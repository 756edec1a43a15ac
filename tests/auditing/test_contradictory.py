"""Groups that no possible world explains: counted if values are distorted, refused if not."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from shoal.auditing.adversaries.joint import has_world
from shoal.auditing.audit import audit
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.knowledge import Knowledge
from tests.dealing import row_groups, row_values
from tests.oracle.worlds import NoWorld, binary_posterior, joint_posterior

PROTECT = {
    "one value": (Event(("a",)),),
    "members": (Event(("a", "b")),),
    "several": (Event(("a", "b"), label="ab"), Event(("c",))),
    "each value": None,
}


def table_of(people: str, values: str, **options: Any) -> Table:
    frame = pl.DataFrame({"q": list(people), "v": list(values)})
    given = {"protect": (Event(("x",)),), "r": 2, "min_support": 1, "publish_members": True}
    return Table.from_frame(frame, Spec(qi=("q",), sensitive="v", **{**given, **options}))


def distorted(table: Table, groups: list[int], values: str, **options: Any) -> Grouping:
    codes = np.array([table.values.index(value) for value in values], np.int32)
    return Grouping.of_rows(table, np.array(groups, np.int32), values=codes, **options)


@pytest.mark.parametrize("adversary", ["joint", "binary"])
def test_people_who_are_alike_and_cannot_have_what_is_published(adversary: Any) -> None:
    """Ten people of whom nobody can have x, published with one x: not one in ten, but impossible.
    Ten others who all have x, published with nine."""
    table = table_of("a" * 10 + "b" * 10, "y" * 10 + "x" * 10)
    for values in ("x" + "y" * 9 + "x" * 10, "y" * 10 + "x" * 9 + "y"):
        found = audit(table, distorted(table, [0] * 10 + [1] * 10, values), adversary=adversary)
        assert found.contradictory == 1
        assert found.robust is not True


@pytest.mark.parametrize("adversary", ["joint", "binary"])
def test_a_group_of_one_event_whose_people_cannot_have_it(adversary: Any) -> None:
    table = table_of("aabb", "yyxx")
    found = audit(table, distorted(table, [0, 1, 0, 1], "xyxy"), adversary=adversary)
    assert found.contradictory == 1
    assert found.robust is not True


def random_groups(rng: np.random.Generator, protect: str) -> tuple[Table, Grouping]:
    """A few people of two to four kinds, many zeros, values handed out anew."""
    rows = int(rng.integers(6, 13))
    people = "".join(rng.choice(list("klmn")[: rng.integers(2, 5)], rows))
    values = "abcd" + "".join(rng.choice(list("abcd"), rows - 4))
    table = table_of(people, values, protect=PROTECT[protect])
    shown = list(values)
    for row in np.flatnonzero(rng.random(rows) < 0.4):
        shown[row] = str(rng.choice(list(values)))
    order = rng.permutation(rows)
    if rng.random() < 0.5:  # mostly groups of people who are alike
        order = np.argsort(list(people), kind="stable")
    groups = np.empty(rows, np.int64)
    groups[order] = np.arange(rows) // rng.integers(2, 5)
    pooled = rng.random(groups.max() + 1) < 0.3
    return table, distorted(table, groups.tolist(), "".join(shown), pooled=pooled)


def slow_contradictory(table: Table, grouping: Grouping, joint: bool) -> int:
    """The groups with an event for which some view has no world, all worlds written down."""
    shown = row_values(table, grouping)
    assert grouping.pooled is not None
    found = 0
    for group in np.unique(row_groups(table, grouping)):
        inside = np.flatnonzero(row_groups(table, grouping) == group)
        held = [(int(v), int(table.value_event[v])) for v in shown[inside]]
        if grouping.pooled[group]:
            held = [(v, e) if e >= 0 else (-1, -1) for v, e in held]
        if any(event >= 0 for _, event in held):
            views = Knowledge.of(table).views
            found += any(not explained(table, view, inside, held, joint) for view in views)
    return found


def explained(
    table: Table, view: Any, inside: NDArray[Any], held: list[tuple[int, int]], joint: bool
) -> bool:
    rows = view.distributions[view.index[table.row_signature[inside]]]
    kinds = sorted(set(held))
    try:
        if joint:
            pool = [sum(row[table.value_event < 0].tolist()) for row in rows]
            weights = [
                [pool[j] if v < 0 else rows[j][v] for v, _ in kinds] for j in range(len(rows))
            ]
            joint_posterior(weights, [kinds.index(kind) for kind in held])
            return True
        for event in {event for _, event in held} - {-1}:
            possible = rows[:, table.value_event != event].any(axis=1)
            f = rows[:, table.value_event == event].sum(axis=1)
            chances = np.where(possible, f, 1.0).tolist()
            binary_posterior(chances, sum(e == event for _, e in held))
    except NoWorld:
        return False
    return True


@pytest.mark.parametrize("adversary", ["joint", "binary"])
@pytest.mark.parametrize("protect", list(PROTECT))
def test_impossible_groups_are_counted_as_by_writing_all_worlds_down(
    protect: str, adversary: Any
) -> None:
    rng = np.random.default_rng([len(protect), len(adversary)])
    total = 0
    for _ in range(120):
        table, grouping = random_groups(rng, protect)
        expected = slow_contradictory(table, grouping, adversary == "joint")
        total += expected
        for budget in (1e9, 1) if adversary == "joint" else (1e9,):
            found = audit(table, grouping, adversary=adversary, budget=budget)
            assert found.contradictory == expected
            assert not (expected and found.robust)
    assert total > 10


@pytest.mark.parametrize("seed", range(40))
def test_a_flow_is_found_where_a_world_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds, values = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    member = np.concatenate([np.arange(kinds), rng.integers(0, kinds, 3)])
    codes = np.concatenate([np.arange(values), rng.integers(0, values, 3 + kinds)])[: len(member)]
    weights = rng.random((kinds, values)) * (rng.random((kinds, values)) < 0.6)
    weights = weights[:, np.unique(codes)]
    codes = np.unique(codes, return_inverse=True)[1]
    try:
        joint_posterior(weights[member].tolist(), codes.tolist())
        expected = True
    except NoWorld:
        expected = False
    assert has_world(weights, np.bincount(member), np.bincount(codes)) is expected


@pytest.mark.parametrize("adversary", ["joint", "binary"])
def test_what_adds_up_to_one_leaves_room_for_nothing_else(adversary: Any) -> None:
    """0.6 + 0.3 + 0.1 is below 1 in floating point; still nobody of these has another value."""
    assert 0.6 + 0.3 + 0.1 < 1
    event = (Event(("x", "y", "z")),)
    table = table_of("a" * 10 + "b" * 10, "x" * 6 + "y" * 3 + "z" + "w" * 10, protect=event)
    shown = "x" * 6 + "y" * 3 + "w" + "w" * 10
    grouping = distorted(table, [0] * 10 + [1] * 10, shown, pooled=np.array([True, True]))
    assert audit(table, grouping, adversary=adversary).contradictory == 1


@pytest.mark.parametrize("adversary", ["joint", "binary"])
def test_knowledge_that_contradicts_people_who_are_alike_is_refused(adversary: Any) -> None:
    table = table_of("aabb", "xyzy")
    wrong = Knowledge.model(table, "wrong", np.array([(0.0, 0.5, 0.5), (0.0, 0.4, 0.6)]))
    with pytest.raises(InputError, match="view wrong") as raised:
        audit(table, [0, 0, 1, 1], knowledge=wrong, adversary=adversary)
    assert raised.value.code == "no-world"


def test_a_large_group_of_one_event_is_exact_all_the_same() -> None:
    """Beyond the budget, with zeros: everybody has the event, whichever member it is."""
    table = table_of("ab" * 6 + "c", "xyzxyx" * 2 + "w", protect=(Event(("x", "y", "z")),))
    found = audit(table, [0] * 12 + [1], budget=1)
    assert found.posteriors == {"exact": 1, "bound": 0, "estimate": 0}
    assert (found.worst_posterior, found.robust, found.contradictory) == (1.0, False, 0)
