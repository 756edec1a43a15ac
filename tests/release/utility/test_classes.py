"""Counts by class of people, against a slow twin over frames."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.data.datasets import hospital
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.groups import FormName, Grouping
from shoal.knowledge import Knowledge
from shoal.plain import plain
from shoal.planning.comparison.trial import CLASS_ERRORS, Trial
from shoal.release import Release
from shoal.release.facts.loss import stratum
from shoal.release.tables import canonical
from shoal.release.utility import ClassErrors, KnownClasses
from shoal.release.utility.classes import ENOUGH_CASES
from tests.release.utility.test_estimate import random_groups, release_of

HEART = Event(("Hypertension", "Heart disease"), "heart")
SPEC = Spec(
    qi=("age", "sex", "region"),
    sensitive="diagnosis",
    r=3,
    protect=(HEART, Event(("Back pain",))),
    min_support=150,
    bands=(("age", 20),),
)


@pytest.fixture(scope="module")
def table() -> Table:
    frame = hospital(2_500, seed=3).with_columns((pl.col("age") // 10 * 10).alias("age"))
    return Table.from_frame(frame, SPEC)


def slow_classes(table: Table, release: Release) -> tuple[dict[Any, Any], int]:
    """True and estimated carriers by class and event, one filter at a time; and smaller classes."""
    frame: pl.DataFrame = table.native.with_columns((pl.col("age") // 20 * 20).alias("band"))
    events = {"heart": HEART.values, "Back pain": ("Back pain",)}
    found, smaller = {}, 0
    for size in (1, 2, 3):
        for chosen in combinations(("age", "band", "sex", "region"), size):
            if {"age", "band"} <= set(chosen):
                continue
            for *values, people in frame.group_by(chosen).len().iter_rows():
                where = dict(zip(chosen, values, strict=True))
                if people < SPEC.min_support:
                    continue
                for event, members in events.items():
                    carry = pl.col("diagnosis").is_in(members)
                    carriers = frame.filter(carry, **where).height
                    if 0 < carriers < ENOUGH_CASES:
                        smaller += 1
                    if carriers < ENOUGH_CASES:
                        continue
                    asked: dict[str, Any] = {**where, "diagnosis": event}
                    if "band" in asked:
                        low = asked.pop("band")
                        asked["age"] = range(low, low + 20)
                    estimate = release.count(asked)
                    found[frozenset(where.items()), event] = (
                        carriers,
                        estimate,
                        estimate.standard_error,
                    )
    return found, smaller


def as_named(errors: ClassErrors) -> dict[Any, Any]:
    found = {}
    for one in errors.classes:
        named: dict[str, Any] = {}
        for name, value in zip(one.view, one.values, strict=True):
            if name == "age/20":
                named["band"] = int(value.strip("[)").split(",")[0])
            else:
                named[name] = int(value) if name == "age" else value
        found[frozenset(named.items()), one.event] = (
            one.carriers,
            pytest.approx(one.estimate),
            pytest.approx(one.estimate.standard_error),
        )
    return found


@pytest.mark.parametrize("form", ["bucketized", "generalized"])
def test_classes_equal_the_slow_twin(table: Table, form: FormName) -> None:
    release = release_of(table, random_groups(table, 500, lost=20), form=form)
    errors = KnownClasses.of(table).errors(release.coded)
    slow, smaller = slow_classes(table, release)
    assert slow == as_named(errors)
    assert errors.smaller == smaller
    assert len(slow) == 20
    sizes = [abs(one.error) for one in errors.classes]
    assert sizes == sorted(sizes, reverse=True)
    assert errors.average == pytest.approx(np.mean(sizes))
    assert errors.far_off == sum(size > 0.25 for size in sizes)


def test_a_release_of_single_people_is_right_in_every_class(table: Table) -> None:
    published = release_of(table, np.arange(table.rows)).coded
    found = KnownClasses.of(table).errors(published)
    assert len(found.classes) == 20
    assert found.average == pytest.approx(0, abs=1e-12)
    assert (found.far_off, found.covered) == (0, 1)
    worst = plain(stratum(found.classes[0]))
    assert set(worst) == {"class", "event", "carriers", "estimate", "standard_error", "error"}


def test_a_table_with_few_carriers_has_no_class_to_judge() -> None:
    frame = hospital(700, seed=5)
    spec = SPEC.with_(protect=(Event(("HIV",)),), bands=())
    few = Table.from_frame(frame, spec)
    errors = KnownClasses.of(few).errors(release_of(few, np.arange(700) // 3).coded)
    assert (errors.classes, errors.average, errors.worst, errors.far_off) == ((), None, None, 0)
    assert errors.far_off_share is None
    assert errors.smaller > 0
    trial = Trial.of(
        few,
        canonical(few, Grouping.of_rows(few, np.arange(700, dtype=np.int32) // 3)),
        seconds=None,
    )
    measured = trial.class_errors(Knowledge.of(few))
    assert tuple(measured) == CLASS_ERRORS
    assert measured["class_error_worst"] is None


def test_models_have_no_classes_and_many_views_are_judged_one_by_one(table: Table) -> None:
    chances = np.full((len(table.signatures), len(table.values)), 1 / len(table.values))
    assert KnownClasses.of(table, Knowledge.model(table, "flat", chances)).names == ()
    wide = [f"q{number}" for number in range(14)]
    frame = table.native.with_columns(pl.col("sex").alias(name) for name in wide)
    spec = Spec(qi=wide, sensitive="diagnosis", r=3, protect=(HEART,))
    known = KnownClasses.of(Table.from_frame(frame, spec))
    assert {view for view, *_ in known.names} == {(name,) for name in wide}


def test_eighths_of_the_people_by_a_number_are_classes_too() -> None:
    frame = hospital(6_000, seed=3)
    spec = SPEC.with_(bands=(), protect=(HEART,), min_support=5_000, max_attributes=1)
    table = Table.from_frame(frame, spec)
    release = release_of(table, random_groups(table, 900, lost=20))
    errors = KnownClasses.of(table).errors(release.coded)
    found = {one.values[0]: one for one in errors.classes if one.view == ("age",)}
    assert 4 <= len(found) <= 8
    heart, before = pl.col("diagnosis").is_in(HEART.values), -1
    for name in sorted(found, key=lambda text: int(text.split(" to ")[0])):
        low, high = (int(text) for text in name.split(" to "))
        assert before < low < high
        before = high
        people = frame.filter(pl.col("age").is_between(low, high))
        assert 500 < people.height < 1_000
        assert found[name].carriers == people.filter(heart).height >= ENOUGH_CASES
        asked = {"age": range(low, high + 1), "diagnosis": "heart"}
        assert found[name].estimate == pytest.approx(release.count(asked))
