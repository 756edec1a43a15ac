"""plan: the largest possible r against plain sums, and the linear program against the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.api.anonymize import anonymize
from shoal.api.plan import plan
from shoal.auditing.audit import audit
from shoal.data.datasets import (
    ADULT_EVENT,
    ADULT_QI,
    ADULT_SENSITIVE,
    HOSPITAL_EVENT,
    HOSPITAL_QI,
    HOSPITAL_SENSITIVE,
    adult,
    hospital,
)
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.knowledge import Knowledge
from shoal.methods.art import Art
from shoal.planning.plan import MAX_LOST, Plan, coverage_bound
from tests.dealing import row_groups


def brute_largest_r(
    people: Sequence[tuple[str, ...]], values: list[str], event: set[str], min_support: int
) -> Fraction | None:
    """The smallest over views of (everybody's odds) / (carriers' odds); None means no limit."""
    limits = []
    whole = Fraction(sum(v in event for v in values), len(values))
    width = len(people[0])
    for names in [c for k in range(1, width + 1) for c in combinations(range(width), k)]:
        signature = [tuple(person[i] for i in names) for person in people]
        rows = Counter(signature)
        having = Counter(s for s, v in zip(signature, values, strict=True) if v in event)
        if max(rows.values()) < min_support:
            continue
        chance = [
            Fraction(having[s], rows[s]) if rows[s] >= min_support else whole for s in signature
        ]
        carriers = [v in event for v in values]
        if any(f == 1 and c for f, c in zip(chance, carriers, strict=True)):
            limits.append(Fraction(1))
            continue
        odds = [f / (1 - f) for f in chance]
        used = sum(o for o, c in zip(odds, carriers, strict=True) if c)
        if used:
            limits.append(sum(odds) / used)
    return min(limits) if limits else None


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("cde"), st.sampled_from("xyzz")),
        min_size=5,
        max_size=40,
    ),
    st.integers(1, 12),
)
def test_the_largest_r_is_a_plain_sum(lines: list[tuple[str, str, str]], support: int) -> None:
    lines = [*lines, ("a", "c", "x"), ("b", "d", "z")]
    frame = pl.DataFrame(lines, schema=["p", "q", "v"], orient="row")
    spec = Spec(qi=("p", "q"), sensitive="v", protect=(Event(("x",)),), r=2, min_support=support)
    result = plan(frame, spec)
    people = [(p, q) for p, q, _ in lines]
    expected = brute_largest_r(people, [v for *_, v in lines], {"x"}, support)
    if expected is None:  # no view has a signature that counts: the whole table is the view
        expected = Fraction(len(lines), sum(v == "x" for *_, v in lines))
    assert result.largest_r == pytest.approx(float(expected))
    (event,) = result.events
    assert event.carriers == sum(v == "x" for *_, v in lines)
    assert [limit.largest_r for limit in event.limits] == sorted(
        limit.largest_r for limit in event.limits
    )


def random_table(seed: int, r: float, support: int) -> Table:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "p": rng.integers(0, 3, 60).astype(str),
            "q": rng.integers(0, 2, 60).astype(str),
            "v": ["x", "y", *rng.choice(list("xyz"), 58, p=[0.25, 0.5, 0.25])],
        }
    )
    spec = Spec(qi=("p", "q"), sensitive="v", protect=(Event(("x",)),), r=r, min_support=support)
    return Table.from_frame(frame, spec)


def kept_carriers(table: Table, grouping: Grouping) -> int:
    return int(((row_groups(table, grouping) >= 0) & (table.row_event >= 0)).sum())


@settings(max_examples=60)
@given(
    st.integers(0, 10_000),
    st.sampled_from((2.0, 3.0, 5.0)),
    st.sampled_from((1, 5, 15)),
    st.sampled_from((("joint", "needed"), ("bound", "closest"))),
)
def test_who_withstands_the_binary_adversary_keeps_no_more_than_the_linear_program(
    seed: int, r: float, support: int, variant: tuple[Any, Any]
) -> None:
    table = random_table(seed, r, support)
    carriers = int((table.row_event >= 0).sum())
    bound = coverage_bound(table, Knowledge.of(table), 0, r)
    assert bound <= carriers
    condition, selection = variant
    method = Art(condition=condition, selection=selection, max_suppression=1)
    grouping = method.anonymize(table)
    if audit(table, grouping, adversary="binary").by_adversary["binary"].robust:
        assert kept_carriers(table, grouping) <= bound
    result = plan(table)
    if result.largest_r < r:
        assert bound < carriers
        assert not result.feasible


def test_against_the_joint_adversary_the_linear_program_is_no_bound() -> None:
    beyond = 0
    for seed in (44, 282, 534, 577):
        table = random_table(seed, 3.0, 1)
        grouping = Art(readers=("joint",), max_suppression=1).anonymize(table)
        found = audit(table, grouping, adversary=["joint", "binary"])
        assert found.by_adversary["joint"].robust
        assert found.exact_share == 1
        if kept_carriers(table, grouping) > coverage_bound(table, Knowledge.of(table), 0, 3.0):
            assert not found.by_adversary["binary"].robust
            beyond += 1
    assert beyond


def hospital_plan(**changes: Any) -> Plan:
    given: dict[str, Any] = {
        "qi": HOSPITAL_QI,
        "sensitive": HOSPITAL_SENSITIVE,
        "protect": (Event(HOSPITAL_EVENT),),
        "r": 60,
    }
    return plan(hospital(5000, 1), Spec(**(given | changes)))


def test_what_stands_in_the_way_is_named_and_advice_helps() -> None:
    result = hospital_plan()
    (event,) = result.events
    assert result.largest_r < 60
    assert event.limits[0].view
    text, rows, share = event.limits[0].blocking[0]
    assert any(name in text for name in event.limits[0].view)
    assert rows >= 100
    assert 0 < share <= 1
    for limit in event.limits:
        told = [
            one
            for one, *_ in limit.blocking
            if one != "combinations of fewer than min_support people"
        ]
        assert all(name.split("/")[0] in one for one in told for name in limit.view)
        assert len(set(told)) == len(told), "people of two bands are told apart"
    assert event.known_before > 0
    assert result.advice
    for advice in result.advice:
        if advice.change.startswith("drop "):
            rest = tuple(q for q in HOSPITAL_QI if q != advice.change.removeprefix("drop "))
            assert hospital_plan(qi=rest).largest_r == pytest.approx(advice.largest_r)
        elif advice.change.startswith("min_support "):
            support = int(advice.change.removeprefix("min_support "))
            assert hospital_plan(min_support=support).largest_r == pytest.approx(advice.largest_r)
        else:
            assert hospital_plan(r=float(advice.change.removeprefix("r "))).feasible
    plain = result.to_dict()
    assert plain["events"][0]["coverage_bound"] == event.coverage_bound


def test_no_advice_where_nothing_stands_in_the_way() -> None:
    result = hospital_plan(r=2)
    assert result.feasible
    assert result.advice == ()
    assert result.events[0].expected_size >= 2


def test_a_carrier_known_for_certain_cannot_be_protected() -> None:
    frame = pl.DataFrame({"q": ["a"] * 5 + ["b"] * 15, "v": ["x"] * 6 + ["y"] * 14})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=2, min_support=5)
    result = plan(frame, spec)
    assert result.largest_r == 1
    assert result.events[0].coverage_bound <= 1


def test_knowledge_that_is_wrong_about_somebody_limits_nothing() -> None:
    frame = pl.DataFrame({"q": list("aabb"), "v": list("xyyy")})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=2, min_support=1)
    table = Table.from_frame(frame, spec)
    knowledge = Knowledge.model(table, "wrong", np.array([(0.1, 0.9), (1.0, 0.0)]))
    assert coverage_bound(table, knowledge, 0, 2) == 1
    assert plan(table, knowledge=knowledge).to_dict()["largest_r"] is None


@pytest.mark.parametrize("before", [{}, {"region": {"rare": 400}}])
def test_what_a_recoding_would_buy_is_what_it_buys(before: dict[str, Any]) -> None:
    frame = hospital(3_000, 4).with_columns(age=pl.col("age") * 1.5)
    spec = Spec(
        qi=("age", "occupation", "region"),
        sensitive="diagnosis",
        protect=[["HIV", "Schizophrenia"]],
        r=60,
        min_support=20,
        recode=before,
    )
    advice = {one.change: one.largest_r for one in plan(frame, spec).advice}
    bands = [change for change in advice if change.startswith("recode age:bands=")]
    assert bands
    for change in bands:
        recipe = {"bands": float(change.rpartition("=")[2])}
        bought = plan(frame, spec.with_(recode={**before, "age": recipe})).largest_r
        assert advice[change] == pytest.approx(bought)


def test_a_frame_needs_a_spec() -> None:
    with pytest.raises(InputError) as raised:
        plan(hospital(100, 0))
    assert raised.value.code == "spec-needed"


def test_a_plan_needs_no_frame() -> None:
    frame, spec = hospital(600, 0), Spec(qi=("sex", "region"), sensitive="diagnosis", r=9)
    table = Table.from_frame(frame, spec, keep=False)
    assert table.native is None
    assert plan(table) == plan(frame, spec)
    assert plan(table).advice


@pytest.mark.data
def test_adult_allows_what_the_theory_says(adult_path: Path) -> None:
    frame = adult(adult_path)
    spec = Spec(
        qi=ADULT_QI[:5],
        sensitive=ADULT_SENSITIVE,
        protect=(Event(ADULT_EVENT),),
        r=10,
        min_support=30,
    )
    result = plan(frame, spec)
    tightest = result.events[0].limits[0]
    assert tightest.view == ("age", "occupation")
    assert tightest.largest_r == pytest.approx(9.9, abs=0.05)
    with_country = plan(frame, spec.with_(qi=(*ADULT_QI[:5], "native-country"), min_support=100))
    assert with_country.largest_r == pytest.approx(3.3, abs=0.1)
    assert "native-country" in with_country.events[0].limits[0].view
    assert with_country.advice[0].change == "drop native-country"
    for support in (100, 300):
        whole = plan(frame, spec.with_(min_support=support))
        assert whole.events[0].coverage_bound == 1566


def test_advice_does_not_raise_min_support_until_a_qi_is_in_no_view() -> None:
    """Text of 120 values with 25 people each: with a larger min_support it would be refused."""
    rng = np.random.default_rng(4)
    town = [f"t{number % 120}" for number in range(3_000)]
    ill = rng.random(3_000) < np.where(np.arange(3_000) % 120 == 0, 0.6, 0.02)
    frame = pl.DataFrame(
        {"town": town, "sex": rng.choice(["f", "m"], 3_000), "x": np.where(ill, "ill", "well")}
    )
    spec = Spec(qi=("town", "sex"), sensitive="x", protect=("ill",), r=20, min_support=20)
    assert not any(one.change.startswith("min_support") for one in plan(frame, spec).advice)
    with pytest.raises(InputError) as raised:
        plan(frame, spec.with_(min_support=40))
    assert raised.value.code == "qi-rare"


def test_plan_lets_as_many_go_as_anonymize_does() -> None:
    assert Art().max_suppression == MAX_LOST


def test_where_r_of_2_51_is_not_ruled_out_and_2_5_is_refused_plan_says_both() -> None:
    """The bound is of odds that add up; groups are of whole people."""
    towns = {"a": (28, 10), "b": (26, 11), "c": (52, 21)}
    lines = [
        (town, "ill" if one < ill else "ab"[one % 2])
        for town, (people, ill) in towns.items()
        for one in range(people)
    ]
    frame = pl.DataFrame(lines, schema=["town", "state"], orient="row")
    spec = Spec(qi=["town"], sensitive="state", protect=["ill"], r=2.5, min_support=10)
    bound = plan(frame, spec)
    assert (f"{bound.largest_r:.2f}", bound.feasible, bound.exit_code) == ("2.51", True, 3)
    with pytest.raises(InputError) as refused:
        anonymize(frame, spec, seed=1)
    assert "2.51" not in str(refused.value)
    run = plan(frame, spec, seconds=60)
    assert run.exit_code == 2
    assert run.found is not None
    assert run.found < 2.5
    assert "found up to" in repr(run)
    assert anonymize(frame, spec.with_(r=run.found), seed=1).robust


def test_a_bound_of_12_30_does_not_say_that_r_10_loses_nobody() -> None:
    random = np.random.default_rng(1893)
    rows = int(random.integers(300, 1500))
    sizes = {"age": 6, "sex": 2, "town": 4}
    people = {name: random.integers(0, size, rows) for name, size in sizes.items()}
    risk = np.ones(rows)
    for name, spread in (("age", 0.9), ("sex", 0.5), ("town", 0.9)):
        risk *= np.exp(random.normal(0, spread, sizes[name]))[people[name]]
    chance = np.minimum(risk / risk.mean() * random.uniform(0.02, 0.06), 0.9)
    ill = random.random(rows) < chance
    frame = pl.DataFrame({**people, "state": np.where(ill, "ill", random.choice(["a", "b"], rows))})
    spec = Spec(qi=list(people), sensitive="state", protect=["ill"], r=10, min_support=20)
    bound = plan(frame, spec)
    assert (round(bound.largest_r, 1), bound.lost, bound.exit_code) == (12.3, 0, 3)
    made = anonymize(frame, spec, seed=1, max_suppression=1.0)
    assert made.certificate["rows"]["suppressed_with_event"] > 0
    run = plan(frame, spec, seconds=60)
    assert run.exit_code in (1, 2)
    assert run.found is None or run.found < 10
    assert [one.robust for one in run.tried if one.r == 10] == [False]
