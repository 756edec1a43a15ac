"""The chance that any row of a person has an event, against all worlds of the published groups."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.auditing.audit import audit
from shoal.data.spec import Limit, Spec
from shoal.data.table import Table
from shoal.knowledge import Knowledge, View, event_chances, known_values, whole_view

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


def any_row(
    table: Table, groups: list[int], view: View, event: int, *, by_value: bool
) -> dict[int, float]:
    """By person: the chance that some row has the event, over all worlds of all groups; a world of
    a group hands its values out to its rows."""
    owner = owners(table)
    chance = event_chances(view, table)[:, event]
    none = dict.fromkeys(owner, 1.0)
    for group in set(groups) - {-1}:
        rows = [row for row, one in enumerate(groups) if one == group]
        own = [int(table.row_value[row]) for row in rows]
        at = [int(view.index[table.row_signature[row]]) for row in rows]
        total, without = 0.0, Counter[int]()
        for world in set(itertools.permutations(own)):
            has = [table.value_event[v] == event for v in world]
            if by_value:
                weight = math.prod(view.distributions[i, v] for i, v in zip(at, world, strict=True))
            else:  # other values are one to whoever tells the event from the rest only
                told = zip(at, has, strict=True)
                weight = math.prod(chance[i] if yes else 1 - chance[i] for i, yes in told)
            total += weight
            hit = {owner[row] for row, yes in zip(rows, has, strict=True) if yes}
            for person in {owner[row] for row in rows} - hit:
                without[person] += weight
        for person in {owner[row] for row in rows}:
            none[person] *= without[person] / total
    return {person: 1.0 - left for person, left in none.items()}


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
        truth = any_row(table, groups, view, event, by_value=reader == "joint")
        for person in several:
            mine = [1 - f for f, p in zip(before, owner, strict=True) if p == person]
            most = max(0.5, 1 - math.prod(mine)) if limit == "prior" else 0.5
            assert truth[person] <= verdict.worst + 1e-9
            if truth[person] > most + 2e-9:
                above.add(person)
    assert verdict.several == len(several)
    # Whoever is above the limit is called so, or left open; nobody else is called so.
    assert verdict.above <= len(above) <= verdict.above + verdict.undecided


def test_releases_of_repeated_people_keep_what_their_certificates_say() -> None:
    """Tables at random, from search to certificate, against all worlds of what was published."""
    checked = Counter[bool | None]()
    for seed in range(120):
        draw = np.random.default_rng(seed)
        rows = int(draw.integers(14, 30))
        frame = pl.DataFrame(
            {
                "who": draw.integers(0, 2 * rows // 3, rows).astype(str),
                "a": draw.integers(0, 2, rows),
                "ill": draw.choice(["H", "x", "y"], rows, p=[0.12, 0.5, 0.38]).tolist(),
            }
        )
        spec = Spec(qi=["a"], sensitive="ill", protect=["H"], r=2, min_support=4, person="who")
        if "H" not in frame["ill"] or not frame["who"].is_duplicated().any():
            continue
        try:
            release = shoal.anonymize(frame, spec, seed=seed, max_suppression=1, smallest_group=1)
        except shoal.InputError:
            continue
        groups = [] if release.row_groups is None else [int(one) for one in release.row_groups]
        sizes = Counter(one for one in groups if one >= 0)
        told = release.certificate["person"].get("any_row")
        if told is None or max(sizes.values()) > 7:
            continue
        table = Table.from_frame(frame, spec)
        pooled = release.certificate["groups"]["pooled"] > 0
        worst = max(
            chance
            for view in Knowledge.of(table).views
            for by_value in ([False] if pooled else [False, True])
            for chance in any_row(table, groups, view, 0, by_value=by_value).values()
        )
        owner = owners(table)
        often = Counter(p for p, g in zip(owner, groups, strict=True) if g >= 0)
        if told["several"] and max(often.values()) > 1:
            assert told["kept"] is not True or worst <= 0.5 + 1e-9
            checked[told["kept"]] += 1
    assert checked[True] > 10


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
