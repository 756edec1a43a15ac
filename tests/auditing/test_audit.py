"""The auditor against its slow twin, the paper's examples, and what it refuses to judge."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import shoal
from shoal.auditing.audit import audit
from shoal.auditing.verdict import Audit
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.knowledge import Knowledge
from studies.tables import raw_data
from tests.oracle import audit as oracle
from tests.oracle.classes import absence, counter

ROUNDING = 1e-9
PROTECT: dict[str, list[Event] | None] = {
    "one value": [Event(("a",))],
    "set": [Event(("a", "b"))],
    "several": [Event(("a", "b"), label="ab", r=3), Event(("c",))],
    "each value": None,
}


def random_case(seed: int, protect: str, **changes: Any) -> tuple[Table, Grouping, oracle.Case]:
    """Ten to sixteen people in groups of up to five, some not published."""
    rng = np.random.default_rng([seed, len(protect)])
    rows, width = int(rng.integers(10, 17)), int(rng.integers(2, 4))
    people = [tuple(str(v) for v in rng.integers(0, 2 + i, width)) for i in [1] * rows]
    values = [str(v) for v in rng.choice(list("abcdd"), rows)]
    values[:4] = "abcd"
    order = rng.permutation(rows)
    groups: list[int | None] = [None] * rows
    number, at = 0, int(rng.integers(0, 3))
    while at < rows:
        size = int(rng.integers(1, 6))
        for row in order[at : at + size]:
            groups[row] = number
        number, at = number + 1, at + size
    names = [f"q{i}" for i in range(width)]
    spec = Spec(
        qi=tuple(names),
        sensitive="x",
        protect=PROTECT[protect],  # type: ignore[arg-type]
        r=float(rng.choice([1.5, 2, 2.5, 4])),
        min_support=int(rng.integers(1, 7)),
        publish_members=bool(changes.get("members", False)),
        limit="prior" if changes.get("prior", False) else "absolute",
    )
    frame = pl.DataFrame(people, schema=names, orient="row").with_columns(x=pl.Series(values))
    table = Table.from_frame(frame, spec)
    pooled = np.array([changes.get("pool", False) and g % 2 == 0 for g in range(number)])
    grouping = Grouping.of_rows(
        table,
        np.array([-1 if g is None else g for g in groups], np.int32),
        pooled=pooled if pooled.any() else None,
    )
    events = [
        oracle.Protected(event.label, event.values, Fraction(event.r or spec.r))
        for event in table.events
    ]
    return (
        table,
        grouping,
        oracle.Case(
            people,
            values,
            groups,
            events,
            spec.min_support,
            members=spec.publish_members,
            pooled=frozenset(np.flatnonzero(pooled).tolist()),
            joint=changes.get("adversary", "joint") == "joint",
            prior=spec.limit == "prior",
        ),
    )


def check(found: Audit, expected: oracle.Findings, case: oracle.Case) -> None:
    frame = found.frame
    strength = {event.label: event.r for event in case.events}
    for j, line in enumerate(frame.iter_rows(named=True)):
        mine = expected.posterior[j]
        if not mine:
            assert line["event"] is None
            assert not line["problematic"]
            continue
        exposure = max(p * strength[label] for label, p in mine.items())
        assert line["exposure"] == pytest.approx(float(exposure), abs=ROUNDING)
        assert line["posterior"] == pytest.approx(float(mine[line["event"]]), abs=ROUNDING)
        if not expected.tied[j]:
            assert line["problematic"] == expected.problematic[j], (j, mine)
    if not any(expected.tied):
        carries = [
            g is not None and any(v in event.values for event in case.events)
            for g, v in zip(case.groups, case.values, strict=True)
        ]
        bad = sum(p and c for p, c in zip(expected.problematic, carries, strict=True))
        assert found.problematic == sum(expected.problematic)
        assert found.problematic_share == pytest.approx(bad / max(1, sum(carries)))
        told = counter(case)
        counted = absence(case).classes or told.classes or told.certain
        assert found.robust is (not any(expected.problematic) and not counted)
    for label, witness in found.worst_by_event.items():
        largest = max(mine.get(label, Fraction(0)) for mine in expected.posterior)
        assert witness.posterior == pytest.approx(float(largest), abs=ROUNDING)
        assert float(expected.posterior[witness.row][label]) == pytest.approx(float(largest))
    held = {label for mine in expected.posterior for label in mine}
    assert set(found.worst_by_event) == held
    assert found.average_delta == pytest.approx(float(expected.average_delta), abs=ROUNDING)
    assert found.known_before == expected.known_before
    rates = [float(rate) for rate in expected.guess_rate.values()]
    assert list(found.guess_rate.by_view.values()) == pytest.approx(rates, abs=ROUNDING)
    assert found.guess_rate.worst == pytest.approx(max(rates), abs=ROUNDING)


def groups_of(case: oracle.Case) -> NDArray[np.int32]:
    return np.array([-1 if group is None else group for group in case.groups], np.int32)


@pytest.mark.parametrize("adversary", ["joint", "binary"])
@pytest.mark.parametrize("protect", list(PROTECT))
@pytest.mark.parametrize("seed", range(15))
def test_the_audit_agrees_with_its_slow_twin(seed: int, protect: str, adversary: Any) -> None:
    table, grouping, case = random_case(seed, protect, adversary=adversary)
    rows = groups_of(case)
    found = audit(table, grouping, adversary=adversary, rows=rows)
    check(found, oracle.audit(case), case)


@pytest.mark.parametrize("protect", ["set", "several"])
@pytest.mark.parametrize("seed", range(15))
def test_published_members_are_judged_as_members(seed: int, protect: str) -> None:
    table, grouping, case = random_case(seed, protect, members=True)
    check(audit(table, grouping, rows=groups_of(case)), oracle.audit(case), case)


@pytest.mark.parametrize("protect", ["one value", "several"])
@pytest.mark.parametrize("seed", range(15))
def test_pooled_groups_are_judged_as_pooled(seed: int, protect: str) -> None:
    table, grouping, case = random_case(seed, protect, pool=True)
    assert grouping.pooled is not None
    check(audit(table, grouping, rows=groups_of(case)), oracle.audit(case), case)


def test_every_view_is_a_subset_and_views_without_support_are_left_out() -> None:
    table, grouping, case = random_case(1, "set")
    expected = oracle.audit(case)
    names = [table.spec.qi[i] for i in range(len(table.spec.qi))]
    wanted = [" + ".join(c) for k in range(1, len(names) + 1) for c in combinations(names, k)]
    found = list(audit(table, grouping).guess_rate.by_view)
    assert len(found) == len(expected.guess_rate)
    assert found == [name for name in wanted if name in found]


# --- The paper ------------------------------------------------------------------------------


def counterexample() -> tuple[Table, Knowledge]:
    """Theory, section 4: N = 3, r = 2, the group {x, y, z}, every value an event."""
    frame = pl.DataFrame({"who": ["1", "2", "3"], "value": ["x", "y", "z"]})
    table = Table.from_frame(frame, Spec(qi=("who",), sensitive="value", r=2))
    rows = [(0.10, 0.03, 0.87), (0.055, 0.055, 0.89), (0.055, 0.055, 0.89)]
    return table, Knowledge.model(table, "example", np.array(rows))


def test_meeting_theorem_1_is_no_proof() -> None:
    table, knowledge = counterexample()
    found = audit(table, [0, 0, 0], knowledge=knowledge)
    assert found.theorem1_groups == found.event_groups == 1
    assert found.robust is False
    assert found.worst is not None
    assert (found.worst.row, found.worst.event) == (0, "x")
    assert found.worst_posterior == pytest.approx(0.544, abs=5e-4)
    assert found.worst.before == pytest.approx(0.10)
    assert found.worst.view == ("example",)


def test_the_binary_adversary_does_not_see_that_breach() -> None:
    table, knowledge = counterexample()
    found = audit(table, [0, 0, 0], knowledge=knowledge, adversary="binary")
    assert found.adversaries == ("binary",)
    assert found.robust is True


def test_a_group_that_fails_theorem_1_is_counted_as_such() -> None:
    table, _ = counterexample()
    rows = np.array([(0.5, 0.1, 0.4), (0.05, 0.055, 0.89), (0.05, 0.055, 0.89)])
    found = audit(table, [0, 0, 0], knowledge=Knowledge.model(table, "far", rows))
    assert (found.theorem1_groups, found.event_groups) == (0, 1)


def test_alex_is_given_away_in_the_papers_first_group(tmp_path: Path) -> None:
    """Table 3 and 4: two in L1, one has heart disease; it seems 50 %, and is 97 % for Alex."""
    said = tmp_path / "known.csv"
    pl.DataFrame(
        {
            "Nationality": ["American", "Japanese", "French"],
            "value": ["Heart Disease"] * 3,
            "probability": [0.1, 0.003, 0.05],
        }
    ).write_csv(said)
    spec = Spec(
        qi=("Nationality",),
        sensitive="Disease",
        protect=(Event(("Heart Disease",)),),
        r=2,
        knowledge=str(said),
    )
    table = Table.from_frame(raw_data(), spec)
    found = audit(table, ["L1", "L1", "L2", "L2", "L3", "L3"])
    expected = (0.1 * 0.997) / (0.1 * 0.997 + 0.9 * 0.003)
    assert found.robust is False
    assert found.worst is not None
    assert (found.worst.row, found.worst.group) == (0, "L1")
    assert found.worst.person == {"Nationality": "American"}
    assert found.worst_posterior == pytest.approx(expected)
    bob = found.frame.row(1, named=True)
    assert bob["posterior"] == pytest.approx(1 - expected)
    assert not bob["problematic"]
    assert found.problematic == 1
    assert found.event_groups == 1


# --- Ties, budgets, settings ----------------------------------------------------------------


def like_people(size: int, **changes: Any) -> Table:
    values = ["x", *["y", "z"] * size][:size]
    frame = pl.DataFrame({"q": ["same"] * size, "v": values})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), min_support=1, **changes)
    return Table.from_frame(frame, spec)


@pytest.mark.parametrize("r", [2, 3, 5, 7, 10, 49])
def test_r_people_who_are_alike_are_robust(r: int) -> None:
    assert audit(like_people(r, r=r), [0] * r).robust is True
    assert audit(like_people(r, r=r + 1e-9), [0] * r).robust is False


@pytest.mark.parametrize("r", [2, 64, 65, 120])
@pytest.mark.parametrize("adversary", ["joint", "binary"])
def test_people_are_alike_however_many_signatures_they_have(r: int, adversary: Any) -> None:
    """One of each signature, all with the same chances: their posterior is exactly 1/r."""
    frame = pl.DataFrame({"q": [str(i) for i in range(r) for _ in range(2)], "v": [*"xy"] * r})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), min_support=1, r=r)
    groups = [None] * (2 * r)
    groups[0], groups[3::2] = 0, [0] * (r - 1)
    found = audit(Table.from_frame(frame, spec), groups, adversary=adversary)
    assert (found.by_adversary[adversary].robust, found.worst.posterior) == (True, 1 / r)


def far_apart() -> tuple[Table, Knowledge]:
    """Forty people of two kinds, whose distributions are far apart."""
    frame = pl.DataFrame({"q": [str(i % 2) for i in range(40)], "v": list("abcd") * 10})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("a",)),), r=2.3, min_support=1)
    table = Table.from_frame(frame, spec)
    rows = np.array([(0.30, 0.05, 0.60, 0.05), (0.15, 0.60, 0.05, 0.20)])
    return table, Knowledge.model(table, "apart", rows)


def test_an_estimate_never_calls_a_table_robust() -> None:
    """A group that is robust by a hair, so that no bound decides."""
    table, knowledge = far_apart()
    r = 0.999 / audit(table, [0] * 40, knowledge=knowledge).worst_posterior
    exact = audit(table, [0] * 40, knowledge=knowledge, r=r)
    assert (exact.robust, exact.exact_share) == (True, 1)
    for seed in range(3):
        rough = audit(table, [0] * 40, knowledge=knowledge, r=r, budget=1, seed=seed)
        assert rough.posteriors == {"exact": 0, "bound": 0, "estimate": 1}
        assert rough.robust is None
        assert (rough.undecided, rough.problematic) == (20, 0)
        assert rough.worst is not None
        assert rough.worst.kind == "estimate"
        assert rough.worst_posterior == pytest.approx(exact.worst_posterior, abs=0.1)


@pytest.mark.parametrize(("r", "robust", "problematic"), [(2.3, True, 0), (4.0, False, 20)])
def test_a_bound_may_call_a_breach_as_well_as_safety(
    r: float, robust: bool, problematic: int
) -> None:
    table, knowledge = far_apart()
    exact = audit(table, [0] * 40, knowledge=knowledge, r=r)
    found = audit(table, [0] * 40, knowledge=knowledge, r=r, budget=1)
    assert found.posteriors == {"exact": 0, "bound": 1, "estimate": 0}
    for one in (exact, found):
        assert (one.robust, one.problematic, one.undecided) == (robust, problematic, 0)
    assert exact.worst_posterior < found.worst_posterior < 1.1 * exact.worst_posterior


def test_a_bound_that_decides_is_called_a_bound() -> None:
    """One view of two nearly equal distributions."""
    size = 40
    frame = pl.DataFrame({"q": [str(i % 2) for i in range(size)], "v": list("abcd") * 10})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("a",)),), r=2, min_support=1)
    table = Table.from_frame(frame, spec)
    rows = np.array([(0.2, 0.3, 0.3, 0.2), (0.21, 0.29, 0.3, 0.2)])
    knowledge = Knowledge.model(table, "near", rows)
    found = audit(table, [0] * size, knowledge=knowledge, budget=1)
    assert found.robust is True
    assert found.posteriors == {"exact": 0, "bound": 1, "estimate": 0}
    exact = audit(table, [0] * size, knowledge=knowledge)
    assert exact.worst_posterior < found.worst_posterior <= 0.5


def test_an_estimate_may_call_a_breach() -> None:
    size = 40
    frame = pl.DataFrame({"q": ["0"] + ["1"] * (size - 1), "v": list("abcd") * 10})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("a",)),), r=2, min_support=1)
    table = Table.from_frame(frame, spec)
    rows = np.array([(0.97, 0.01, 0.01, 0.01), (0.01, 0.33, 0.33, 0.33)])
    found = audit(table, [0] * size, knowledge=Knowledge.model(table, "far", rows), budget=1)
    assert found.robust is False
    assert found.posteriors["exact"] == 0
    assert found.problematic >= 1


def test_r_of_the_call_replaces_the_specs_but_not_an_events_own() -> None:
    frame = pl.DataFrame({"q": ["s"] * 6, "v": list("xxyzzz")})
    events = (Event(("x",), r=2.5), Event(("y",)))
    table = Table.from_frame(frame, Spec(qi=("q",), sensitive="v", protect=events, r=5))
    strict = audit(table, [0] * 6)
    assert strict.robust is True
    assert audit(table, [0] * 6, r=7).robust is False
    assert audit(table, [0] * 6, r=1.01).robust is True
    own = table.spec.with_(protect=(Event(("x",), r=3.5), Event(("y",))))
    assert audit(Table.from_frame(frame, own), [0] * 6, r=1.01).robust is False


def test_a_table_with_suppressed_rows_counts_them() -> None:
    table = like_people(6, r=2)
    found = audit(table, [None, 1, 1, 2, 2, None])
    assert (found.published, found.suppressed, found.suppressed_carriers) == (4, 2, 1)
    assert found.worst is None
    assert found.robust is True
    assert found.carriers == 0
    assert found.frame["group"].to_list() == [None, "1", "1", "2", "2", None]
    assert audit(table, [-1, 1, 1, 2, 2, -1]).suppressed == 2


# --- Frames and errors ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda frame: frame, pl.DataFrame),
        (lambda frame: frame.to_pandas(), pd.DataFrame),
        (lambda frame: frame.to_arrow(), pa.Table),
    ],
)
def test_the_row_frame_is_of_the_callers_kind(make: Any, kind: Any) -> None:
    frame = make(pl.DataFrame({"q": list("aabb"), "v": list("xyxy"), "g": [1, 1, 2, 2]}))
    table = shoal.Table.from_frame(frame, Spec(qi=("q",), sensitive="v", r=2))
    found: Any = shoal.audit(table, frame["g"]).row_risks()
    assert isinstance(found, kind)
    columns = list(found.column_names if isinstance(found, pa.Table) else found.columns)
    assert columns[:3] == ["row", "group", "event"]
    assert {"posterior", "before", "view", "kind", "problematic", "undecided"} <= set(columns)
    assert len(found) == 4


@pytest.mark.parametrize(
    ("groups", "options", "code"),
    [
        ([1, 2], {}, "groups-length"),
        ([None] * 6, {}, "nothing-published"),
        ([-1] * 6, {}, "nothing-published"),
        ([1] * 6, {"adversary": "clever"}, "adversary"),
        ([1] * 6, {"r": 1}, "r"),
    ],
)
def test_what_cannot_be_judged_is_said(groups: Any, options: Any, code: str) -> None:
    with pytest.raises(InputError) as raised:
        audit(like_people(6, r=2), groups, **options)
    assert raised.value.code == code


def test_knowledge_that_contradicts_the_table_is_named() -> None:
    frame = pl.DataFrame({"q": list("aabb"), "v": list("xyzy")})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=2)
    table = Table.from_frame(frame, spec)
    knowledge = Knowledge.model(table, "wrong", np.array([(0.0, 0.5, 0.5), (0.0, 0.4, 0.6)]))
    with pytest.raises(InputError, match="view wrong") as raised:
        audit(table, [0] * 4, knowledge=knowledge)
    assert raised.value.code == "no-world"


def test_plain_data_for_machines_names_what_the_command_promises() -> None:
    plain = audit(like_people(4, r=2), [0] * 4).to_dict()
    promised = "robust r adversaries worst_posterior problematic problematic_share average_delta"
    assert {*promised.split(), "guess_rate", "exact_share"} <= set(plain)
    assert plain["worst"]["posterior"] == plain["worst_posterior"] == 0.25


def test_whom_the_whole_tables_distribution_exposes_is_counted() -> None:
    """Two kinds of people, of whom the view tells that one hardly ever carries: it exposes the
    other kind alone, and the group's share everybody."""
    frame = pl.DataFrame({"q": ["a"] * 10 + ["b"] * 90, "v": ["x"] * 5 + ["y"] * 94 + ["x"]})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=4, min_support=1)
    table = Table.from_frame(frame, spec)
    groups = [0 if i < 8 or 20 <= i < 28 else None for i in range(100)]
    found = audit(table, groups, adversary=("joint", "binary"))
    assert (found.robust, found.views) == (False, 1)
    assert found.by_view["q"].problematic == 8
    assert (found.problematic, found.problematic_carriers) == (16, 5)
    for one in found.by_adversary.values():
        assert one.problematic == 16
    assert audit(table, groups, limit="prior").problematic == 8


def test_a_group_that_is_too_large_to_be_exact_is_judged() -> None:
    """What settles such groups is called from Python, and its kernels need a door for that."""
    hospital = shoal.datasets.hospital(2_000, seed=0)
    released = hospital.with_columns(region=pl.lit("*")).select("sex", "region", "diagnosis")
    spec = Spec(qi=["sex", "region"], sensitive="diagnosis", protect=["HIV"], r=50, min_support=50)
    found = shoal.audit(hospital, spec, released=released)
    assert 1 / 50 < found.worst_posterior < 0.03
