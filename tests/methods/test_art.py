"""ART on small tables: what it promises, what it refuses, and the paper's own variant."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.auditing.adversaries.adversary import BOTH
from shoal.auditing.audit import audit
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Anonymizer
from shoal.knowledge import Knowledge, as_readers
from shoal.methods.art import Art
from shoal.methods.art.asked import Asked
from shoal.methods.art.assembly import Assembly
from shoal.methods.art.cells import Cells
from tests.dealing import row_groups


def hospital_table(rows: int = 3000, **changes: Any) -> Table:
    given: dict[str, Any] = {
        "qi": HOSPITAL_QI[:3],
        "sensitive": HOSPITAL_SENSITIVE,
        "protect": (Event(HOSPITAL_EVENT),),
        "r": 3,
    }
    return Table.from_frame(hospital(rows, 4), Spec(**(given | changes)))


def clashing_table(**changes: Any) -> Table:
    """Carriers only where nobody else is: no filler is like them."""
    frame = pl.DataFrame({"q": ["a"] * 30 + ["b"] * 30, "v": ["x"] * 29 + ["y"] * 31})
    given: dict[str, Any] = {"qi": ("q",), "sensitive": "v", "protect": (Event(("x",)),), "r": 2}
    return Table.from_frame(frame, Spec(**(given | changes)))


def test_art_is_an_anonymizer_and_hides_every_carrier() -> None:
    method: Anonymizer = Art()
    table = hospital_table()
    grouping = method.anonymize(table)
    found = audit(table, grouping, adversary=["joint", "binary"])
    assert found.robust is True
    assert (table.rows - grouping.published) == 0
    carriers = int((table.row_event >= 0).sum())
    assert 0 < found.event_groups <= carriers
    assert grouping.claims["pure_groups"] + grouping.claims["pooled_groups"] == found.event_groups


@pytest.mark.parametrize("limit", ["absolute", "prior"])
@pytest.mark.parametrize(
    "changes",
    [
        {"protect": (Event(("HIV",), r=8), Event(("Schizophrenia",)))},
        {"protect": (Event(HOSPITAL_EVENT), Event(("Influenza",), r=1.5)), "r": 4},
        {"publish_members": True, "r": 6},
        {"protect": None, "r": 1.5},
        {"min_support": 20},
        {"max_attributes": 1, "r": 20},
        {"bands": {"age": 10}},
    ],
    ids=["two events", "own r", "members", "each value", "support", "one attribute", "bands"],
)
def test_the_auditor_confirms_every_kind_of_spec(changes: Any, limit: str) -> None:
    table = hospital_table(**changes, limit=limit)
    release = shoal.anonymize(table, table.spec, seed=0)
    assert release.audit is not None
    assert all(one.robust for one in release.audit.by_adversary.values())
    # Where each value is an event, groups of several events are not made for whoever counts.
    assert release.robust is (table.spec.protect is not None)


def test_a_pool_takes_carriers_whom_no_single_value_hides() -> None:
    """Twelve filler values, one per person: only together are they enough."""
    values = ["x", *(f"y{i}" for i in range(12))]
    frame = pl.DataFrame({"q": ["a"] * 13, "v": values})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=5)
    release = shoal.anonymize(frame, spec)
    assert release.robust is True
    groups = release.certificate["groups"]
    assert (groups["pooled"], groups["with_event"]) == (1, 1)
    assert "(other)" in release.sensitive["v"].to_list()


def test_past_the_limit_the_run_stops_with_a_diagnosis() -> None:
    table = clashing_table(min_support=10)
    with pytest.raises(InputError) as raised:
        Art(readers=("joint",)).anonymize(table)
    assert raised.value.code == "suppression-limit"
    assert "of 29 people with a protected value" in raised.value.problem
    assert "shoal plan" in raised.value.remedy


def test_within_the_limit_who_cannot_be_hidden_is_suppressed() -> None:
    table = clashing_table(min_support=10)
    grouping = Art(condition="bound", max_suppression=1).anonymize(table)
    lost = (row_groups(table, grouping) == -1) & (table.row_event >= 0)
    assert lost.sum() == (table.rows - grouping.published) > 0
    found = audit(table, grouping)
    assert found.by_adversary["joint"].robust is True
    assert found.robust is False, "whoever is missing is a carrier"
    blind = Art(max_suppression=1).anonymize(table)
    assert (table.rows - blind.published) > table.carriers - blind.carriers(table), "lookalikes too"
    assert all(one.robust for one in audit(table, blind, adversary=BOTH).by_adversary.values())


def test_equal_odds_of_unequal_people_are_no_tie() -> None:
    """At N = r only people with the same probabilities are surely alike to the auditor."""
    frame = pl.DataFrame({"q": ["a"] * 10 + ["b"] * 2, "v": [*"xyzzzzzzzz", *"xy"]})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=2, min_support=1)
    table = Table.from_frame(frame, spec)
    for partner, kept in ((1, 1), (4, 0)):  # the y of a, the y of b
        cells = Cells.of(table)
        assert [table.values[v] for v in cells.value] == [*"xyzxy"]
        assembly = Assembly(table, cells)
        assembly.add(np.array([0, partner]), "pure")
        assembly.drop_unsafe(Asked(table, Knowledge.of(table), as_readers(("joint",))))
        assert assembly.count("pure") == kept


UNEVEN = [(k, m) for m in range(2, 60) for k in range(1, m) if k * (1 / (k / m)) > m][::7]
"""Shares of which one over them, times the one number, is above the other by rounding."""


@pytest.mark.parametrize(("carriers", "people"), UNEVEN)
def test_a_class_may_tell_what_was_known_of_it(carriers: int, people: int) -> None:
    """Under the honest limit, whole: one carrier more would be too many."""
    frame = pl.DataFrame({"q": ["a"] * people, "v": ["x"] * carriers + ["y"] * (people - carriers)})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=60, limit="prior")
    table = Table.from_frame(frame, spec.with_(min_support=1))
    asked = Asked(table, Knowledge.of(table), as_readers(("joint", "binary")))
    for some, kept in ((people - carriers, 1), (people - carriers - 1, 0)):
        assembly = Assembly(table, Cells.of(table))
        assembly.add(np.repeat([0, 1], [carriers, some]), "pure")
        assembly.drop_unsafe(asked)
        assert assembly.count("pure") == kept


def scattered(size: int, seed: int) -> pl.DataFrame:
    """Twelve classes with two carriers each, and hardly two people with the same other value."""
    values = np.random.default_rng(seed).integers(0, 400, (12, size)).astype(str)
    values[:, :2] = "x"
    return pl.DataFrame({"q": np.repeat([*"abcdefghijkl"], size), "v": values.ravel()})


SCATTERED = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=10, min_support=1)


def assert_pools_of_ten(table: Table, known: Knowledge, seed: int) -> None:
    """Every carrier with people drawn from all classes, published pooled: nine others are enough,
    and eight are not."""
    rng, asked = np.random.default_rng(seed), Asked(table, known, as_readers(("joint",)))
    for others, kept in ((9, 24), (8, 0)):
        cells = Cells.of(table)
        assembly = Assembly(table, cells)
        everybody = np.repeat(np.arange(len(cells.free)), cells.free)
        filler = rng.permutation(everybody[cells.event[everybody] < 0])
        carriers = everybody[cells.event[everybody] >= 0]
        for number, carrier in enumerate(carriers):
            some = filler[number * others : (number + 1) * others]
            assembly.take(np.append(some, carrier), "pooled")
        found = audit(table, assembly.grouping(), knowledge=known)
        assert found.by_adversary["joint"].robust is bool(kept)
        assert found.worst_posterior == pytest.approx(1 / (others + 1), rel=1e-9)
        assembly.drop_unsafe(asked)
        assert assembly.count("pooled") == kept


@pytest.mark.parametrize("size", [50, 100, 130])
@pytest.mark.parametrize("seed", range(4))
def test_people_with_the_same_chances_are_alike_in_a_pool(size: int, seed: int) -> None:
    """Everybody has the event with probability 2/size: ten of them are enough, whatever else may
    be known of them, and nine are not, to ART and to the auditor."""
    table = Table.from_frame(scattered(size, seed), SCATTERED)
    assert_pools_of_ten(table, Knowledge.of(table), seed)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_model_leaves_out_is_no_event(seed: int) -> None:
    """Where a model's chances do not add up to 1, the rest is outside every event."""
    table = Table.from_frame(scattered(100, seed), SCATTERED)
    view = Knowledge.from_table(table).views[0]
    event = table.value_event >= 0
    left = np.random.default_rng(seed).uniform(0.2, 1, (len(table.signatures), 1))
    rows = view.distributions[view.index] * np.where(event, 1.0, left)
    known = Knowledge.model(table, "short", rows)
    assert_pools_of_ten(table, known, seed)


def test_the_papers_variant_meets_theorem_1() -> None:
    table = hospital_table(1200, r=2)
    grouping = Art(condition="bound", selection="closest", max_suppression=1).anonymize(table)
    found = audit(table, grouping)
    assert found.event_groups > 0
    assert found.theorem1_groups == found.event_groups
    assert grouping.claims["condition"] == "bound"


def test_the_papers_variant_merges_the_closest_first() -> None:
    """One carrier; of two kinds of filler it takes those with its own probability."""
    frame = pl.DataFrame({"q": ["a"] * 10 + ["b"] * 10 + ["c"] * 10, "v": ["x"] + ["y"] * 29})
    spec = Spec(qi=("q",), sensitive="v", protect=(Event(("x",)),), r=3, min_support=1)
    table = Table.from_frame(frame, spec)
    near = np.array([(0.10, 0.90), (0.30, 0.70), (0.11, 0.89)])
    knowledge = Knowledge.model(table, "given", near)
    art = Art(condition="bound", selection="closest", knowledge=knowledge)
    groups = row_groups(table, art.anonymize(table))
    mine = np.flatnonzero(groups == groups[0])
    assert {frame["q"][int(row)] for row in mine} == {"a"}
    assert len(mine) == 3


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"condition": "bound", "selection": "needed"}, "art-variant"),
        ({"selection": "closest"}, "art-variant"),
        ({"max_suppression": 1.5}, "suppression"),
        ({"max_suppression": -0.1}, "suppression"),
        ({"condition": "bound", "cell": 4}, "art-variant"),
        ({"condition": "bound", "smallest_group": 4}, "art-variant"),
        ({"cell": 0}, "whole-number"),
    ],
)
def test_parameters_are_checked(parameters: Any, code: str) -> None:
    with pytest.raises(InputError) as raised:
        Art(**parameters)
    assert raised.value.code == code


@pytest.mark.parametrize("readers", [(), ("jiont",)])
def test_readers_are_checked(readers: Any) -> None:
    with pytest.raises(InputError) as raised:
        Art(readers=readers).anonymize(hospital_table())
    assert raised.value.code == "reader"


def test_the_selection_goes_with_the_condition() -> None:
    assert (Art().selection, Art(condition="bound").selection) == ("needed", "closest")


def test_unknown_methods_and_parameters_are_named() -> None:
    frame, spec = hospital(200, 0), Spec(qi=("sex",), sensitive="diagnosis", r=2)
    with pytest.raises(InputError, match='did you mean "anatomy"'):
        shoal.anonymize(frame, spec, method="anatomi")
    with pytest.raises(InputError, match='no parameter "formm"'):
        shoal.anonymize(frame, spec, formm="generalized")


def test_progress_counts_carriers_up_to_the_last() -> None:
    seen: list[tuple[str, int, int]] = []
    Art().anonymize(hospital_table(), progress=lambda *report: seen.append(report))
    step, done, total = seen[-1]
    assert done == total > 0
    assert step == "hiding cases"
    assert [one[1] for one in seen] == sorted(one[1] for one in seen)
