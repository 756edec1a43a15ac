"""Counting class by class, against its slow twin and by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import event as note
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.auditing.audit import audit
from shoal.auditing.check_words import stratum_words
from shoal.auditing.counting import Counting, TellingClass
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.groups import Grouping, suppressed
from shoal.groups.suppressed import left_out, missing_people
from shoal.knowledge import Knowledge
from tests.oracle import classes as oracle
from tests.oracle.audit import Case, Protected
from tests.release.fixed import CERTAIN, SEXES, SEXES_SPEC, WIDE


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """People of up to three attributes in groups of a few; some are missing, carriers above all."""
    width = draw(st.integers(1, 3))
    rows = draw(st.integers(6, 40))
    value = st.sampled_from("abccdddd")
    people = draw(
        st.lists(st.tuples(*[st.sampled_from("uvw")] * width), min_size=rows, max_size=rows)
    )
    values = ["a", "b", "c", *draw(st.lists(value, min_size=rows - 3, max_size=rows - 3))]
    fewest = draw(st.integers(0, 3))
    groups = [
        None if draw(st.integers(0, 9)) < fewest + 3 * (one == "a") else draw(st.integers(0, 8))
        for one in values
    ]
    if all(group is None for group in groups):
        groups[-1] = 0
    events = [
        Protected("a|b", ("a", "b"), Fraction(draw(st.sampled_from(("1.5", "2", "3", "5"))))),
        Protected("c", ("c",), Fraction(2)),
    ]
    return Case(
        [tuple(one) for one in people],
        values,
        groups,
        events[: draw(st.integers(1, 2))],
        draw(st.integers(1, 6)),
        prior=draw(st.booleans()),
    )


def audited(case: Case) -> Any:
    names = [f"q{i}" for i in range(len(case.people[0]))]
    frame = pl.DataFrame(case.people, schema=names, orient="row")
    spec = Spec(
        qi=tuple(names),
        sensitive="x",
        protect=[Event(one.values, r=float(one.r)) for one in case.events],
        r=2,
        min_support=case.min_support,
        limit="prior" if case.prior else "absolute",
    )
    table = Table.from_frame(frame.with_columns(x=pl.Series(case.values)), spec)
    return audit(table, [-1 if group is None else group for group in case.groups])


def agree(found: Counting, told: oracle.Told) -> None:
    classes = {
        (
            one.event,
            tuple(int(name[1:]) for name in one.view),
            tuple(part.split(" ")[1] for part in one.described.split(", ") if one.view),
            one.people,
            one.carriers,
            one.among,
            one.needed,
        )
        for one in found.classes
    }
    assert classes == told.classes
    assert len(found.classes) == len(classes)
    assert found.kept is (not told.classes)
    assert found.carriers == len(told.carriers)
    worst = [(one.certain, one.needed / one.among) for one in found.classes]
    assert worst == sorted(worst, reverse=True)
    note("kept" if found.kept else "certain" if found.certain else "fails")


@settings(max_examples=300)
@given(cases())
def test_the_counter_agrees_with_its_slow_twin(case: Case) -> None:
    everything, told = audited(case), oracle.counter(case)
    found = everything.counter
    agree(found, told)
    assert everything.certain == len(told.certain)
    note(f"somebody is certain: {everything.certain > 0}")
    broken = {one.name for one in everything.checks if one.state == "broken"}
    assert ("certainty" in broken, "counting" in broken) == (bool(told.certain), not found.kept)
    assert everything.robust is not True or not broken
    assert found.nearest == told.nearest
    by_view: dict[tuple[int, ...], int] = {}
    for _, view, _, _, carriers, _, _ in told.classes:
        by_view[view] = by_view.get(view, 0) + carriers
    assert found.in_one_view() == max(by_view.values(), default=0)
    assert len(found.classes) == len(told.classes)


@settings(max_examples=300)
@given(cases())
def test_absence_agrees_with_its_slow_twin(case: Case) -> None:
    found, told = audited(case), oracle.absence(case)
    agree(found.absence, told)
    assert found.absence.certain == len(told.certain)
    if told.classes:
        assert found.robust is False


def test_as_many_carriers_as_people_in_their_groups_are_certain() -> None:
    found = audit(Table.from_frame(SEXES, SEXES_SPEC), CERTAIN)
    assert all(one.robust for one in found.by_adversary.values())
    assert found.robust is False
    assert not found.counter.kept
    assert (found.counter.carriers, found.counter.certain, found.certain) == (2, 2, 2)
    assert found.counter.nearest == (1.0, 2 / 6)
    (worst,) = found.counter.classes
    assert (worst.described, worst.people, worst.carriers, worst.among) == ("sex m", 10, 2, 2)
    assert found.to_dict()["counter"]["worst"][0]["certain"] is True


def test_a_class_that_is_wide_enough_can_make_somebody_certain_group_by_group() -> None:
    """Two of ten men carry x; a group with one x has one man, another all the others: six men and
    more come into question, as many as are needed, and yet each group must have one of the two."""
    groups = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 0, 0, 2, 2, 3, 3, 2, 3]
    table = Table.from_frame(SEXES, SEXES_SPEC)
    found = audit(table, groups)
    assert found.counter.kept
    assert [one.name for one in found.checks if one.state == "broken"] == ["certainty"]
    assert (found.certain, found.robust) == (1, False)
    assert "BROKEN: certain by counting (1 person); kept: " in repr(found)
    groups[2] = 0  # another man beside him
    assert audit(table, groups).certain == 0


def test_whom_counts_alone_name_is_not_made_certain_by_the_release() -> None:
    """All ten men carry x, which everybody knows beforehand; nobody else is made certain."""
    frame = SEXES.with_columns(v=pl.Series(["x"] * 10 + ["x", "x"] + ["y"] * 8))
    table = Table.from_frame(frame, SEXES_SPEC.with_(limit="prior"))
    found = audit(table, [0] * 10 + [1] * 10)
    assert (found.certain, found.robust) == (0, True)
    told = audit(table, [0] * 10 + [1, 1] + [2] * 8)
    assert (told.certain, told.robust) == (2, False)


def test_who_is_certain_group_by_group_where_somebody_is_missing() -> None:
    """One man with x is missing with three others, so that the one man beside two women carries."""
    groups = [0, -1, -1, -1, -1, *range(10, 15), 2, 3, 0, 0, 2, 2, 3, 3, 2, 3]
    found = audit(Table.from_frame(SEXES, SEXES_SPEC.with_(r=2)), groups)
    assert found.counter.kept
    assert (found.certain, found.robust) == (1, False)


def test_a_class_that_is_whole_or_wide_enough_is_kept() -> None:
    assert audit(Table.from_frame(SEXES, SEXES_SPEC), WIDE).counter.kept
    whole = Table.from_frame(SEXES, SEXES_SPEC.with_(r=9))
    assert audit(whole, [0] * 20).counter.kept
    assert not audit(whole, WIDE).counter.kept


def test_missing_people_come_into_question_where_a_carrier_is_missing() -> None:
    # One man with x is missing; the other is in a group with three men, so six come into question.
    groups = [0, -1, 0, 0, -1, -1, *range(10, 14), 2, 3, 2, 2, 3, 3, *range(20, 24)]
    found = audit(Table.from_frame(SEXES, SEXES_SPEC), groups)
    assert found.counter.kept
    groups[4] = 30
    (told,) = audit(Table.from_frame(SEXES, SEXES_SPEC), groups).counter.classes
    assert (told.people, told.carriers, told.among) == (10, 2, 5)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_missing_people_are_those_of_no_line(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are looked up in blocks, copies counted."""
    random = np.random.default_rng(block)
    frame = pl.DataFrame({"q": random.choice(["a", "b"], 90), "v": random.choice(["x", "y"], 90)})
    table = Table.from_frame(frame, Spec(qi=("q",), sensitive="v", protect=("x",), r=2))
    signature, value, rows = table.cells
    lines = np.repeat(np.arange(4, dtype=np.int32), 4)
    copies = np.array([2, 1, 3, 1])
    cell = np.tile(np.arange(4), 4)
    some = np.minimum(random.integers(1, 3, 16), 2)
    made = Grouping.of_lines(table, lines, signature[cell], value[cell], some, copies=copies)
    expected = {
        (int(signature[c]), int(value[c])): int(rows[c] - (some * copies[lines])[cell == c].sum())
        for c in range(4)
    }
    monkeypatch.setattr(suppressed, "BLOCK", block)
    left = missing_people(table, left_out(table, made))
    found = zip(left.signature.tolist(), left.value.tolist(), left.rows.tolist(), strict=True)
    assert {(s, v): n for s, v, n in found} == {cell: n for cell, n in expected.items() if n}


def test_what_an_outsider_believes_is_counted_as_believed() -> None:
    """Outside knowledge is asked by its own figures, and a class is described by all attributes; a
    model has no classes."""
    table = Table.from_frame(SEXES, SEXES_SPEC)
    model = Knowledge.model(table, "score", np.array([[0.35, 0.65], [0.2, 0.8]]))
    assert audit(table, WIDE, knowledge=model).counter.kept
    believed = Knowledge((replace(model.views[0], fitted=None),), "a study")
    found = audit(table, WIDE, knowledge=believed)
    assert found.assumed.unknown == ()
    (told,) = found.counter.classes
    assert (told.view, told.described, told.among) == (("score",), "sex m", 6)
    assert told.carriers == pytest.approx(3.5)


def test_absence_of_carriers_alone_is_told() -> None:
    """One man with x is missing, then two others with him, then all men."""
    table = Table.from_frame(SEXES, SEXES_SPEC)
    groups = np.array(WIDE)
    groups[1] = -1
    alone = audit(table, groups)
    assert (alone.absence.carriers, alone.absence.certain, alone.robust) == (1, 1, False)
    assert all(verdict.robust for verdict in alone.by_adversary.values())
    assert {one.described for one in alone.absence.classes} == {"everybody", "sex m"}
    assert "left out (1 person)" in repr(alone)
    groups[[4, 5]] = -1
    hidden = audit(table, groups)
    assert hidden.absence.kept
    assert hidden.robust
    groups[:10] = -1
    assert audit(table, groups).absence.kept


def test_absence_may_tell_what_was_known_under_the_honest_limit() -> None:
    """Half of the class carry x; of four missing people two do."""
    frame = pl.DataFrame({"q": ["a"] * 10 + ["b"] * 90, "v": ["x", "y"] * 5 + ["y"] * 90})
    spec = Spec(qi=("q",), sensitive="v", protect=("x",), r=4, min_support=5)
    groups = [-1] * 4 + [0] * 6 + [1] * 86 + [-1] * 4
    table = Table.from_frame(frame, spec)
    (told,) = audit(table, groups).absence.classes
    assert (told.described, told.people, told.carriers, told.among) == ("q a", 10, 2, 4)
    assert audit(table, groups, limit="prior").absence.kept
    groups[1], groups[5] = 0, -1
    assert audit(table, groups, limit="prior").absence.kept
    groups[1], groups[5], groups[4], groups[3] = 0, 0, -1, 0
    assert not audit(table, groups, limit="prior").absence.kept


def test_the_worst_stratum_in_words() -> None:
    one = TellingClass("ill", ("age",), "age 25", people=766, carriers=17, among=20, needed=51)
    assert stratum_words(one) == (
        '17 cases of "ill" among 766 people (age 25): 20 of them could have it, 51 are needed'
    )
