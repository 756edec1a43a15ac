"""Injector's buckets against brute force over permutations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.datasets import (
    ADULT_EVENT,
    ADULT_QI,
    ADULT_SENSITIVE,
    HOSPITAL_QI,
    HOSPITAL_SENSITIVE,
    adult,
    hospital,
)
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Anonymizer, silent
from shoal.methods.injector import Injector
from shoal.methods.injector.injector import SortedRows, in_perfect_matching
from shoal.methods.injector.negative_rules import mine
from shoal.methods.parameters import check_eligible
from tests.dealing import row_groups
from tests.methods.injector_oracle import (
    all_rules,
    check_buckets,
    denied_by,
    given_by_matchings,
    random_table,
)

# --- Matchings ---------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 2**32), st.data())
def test_edges_in_perfect_matchings(sizes: list[int], seed: int, data: st.DataObject) -> None:
    density = data.draw(st.sampled_from([0.3, 0.6, 0.9]))
    rng = np.random.default_rng(seed)
    blocks = [rng.random((size, size)) < density for size in sizes]
    starts = np.cumsum([0, *sizes[:-1]])
    edges = [start + np.argwhere(block) for start, block in zip(starts, blocks, strict=True)]
    left, right = np.concatenate(edges).T
    block_of = np.repeat(np.arange(len(sizes)), sizes)
    expected = [given_by_matchings(block)[block] for block in blocks]
    found = in_perfect_matching(left, right, block_of)
    assert found.tolist() == np.concatenate(expected).tolist()


# --- Buckets -----------------------------------------------------------------------------


@pytest.mark.parametrize("protect", [None, ["A"], ["A", "B", "C"], [["A", "B"], "C"]])
@pytest.mark.parametrize(("l", "min_conf", "rows"), [(2, 1.0, 70), (3, 1.0, 150), (2, 0.9, 60)])
def test_every_bucket_passes_the_matching_test(
    protect: list[str] | None, l: int, min_conf: float, rows: int
) -> None:
    incomplete = grouped = 0
    for seed in range(20):
        table = random_table(seed, rows=rows, protect=protect, values=6)
        try:
            check_eligible(table, l)
        except InputError:
            continue
        grouping = Injector(l=l, min_conf=min_conf, min_exp=0.6).anonymize(table, seed=seed)
        rules = all_rules(table, min_conf=min_conf, min_exp=0.6, most=3)
        incomplete += check_buckets(table, grouping, denied_by(table, rules), l)
        assert grouping.claims["rules"] <= len(rules)
        assert grouping.claims["suppressed"] == (table.rows - grouping.published)
        assert grouping.claims["left_over"] >= (table.rows - grouping.published)
        grouped += int((row_groups(table, grouping) >= 0).sum())
    assert grouped > 20 * rows / 4
    # Otherwise no bucket would have had to pass anything but a glance.
    assert incomplete > 0 or protect == ["A"]


def test_the_matching_test_is_what_turns_some_rows_away(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(36, rows=150, protect=None, values=7)
    denied = denied_by(table, all_rules(table, min_conf=0.95, min_exp=0.6, most=3))
    method = Injector(l=2, min_conf=0.95, min_exp=0.6)
    check_buckets(table, method.anonymize(table), denied, 2)
    monkeypatch.setattr(
        "shoal.methods.injector.injector.in_perfect_matching",
        lambda row, value, block: np.ones(len(row), dtype=bool),
    )
    with pytest.raises(AssertionError):
        check_buckets(table, method.anonymize(table), denied, 2)


@pytest.mark.parametrize("protect", [None, ["A", "B"]])
def test_incompatible_rows_are_counted(protect: list[str] | None) -> None:
    table = random_table(5, rows=80, protect=protect)
    rules = mine(table, min_conf=0.95, min_exp=0.6, max_attributes=None, progress=silent)
    found = SortedRows.of(table, rules.impossible, np.random.default_rng(0))
    events = len(table.events)
    people = table.by_cell
    event = np.where(people.event < 0, events, people.event)
    none = np.zeros((table.rows, 1), dtype=bool)
    cannot = np.hstack([rules.impossible[people.signature], none])[:, event]
    expected = (cannot | cannot.T).sum(axis=1)
    assert found.incompatible[found.kind].tolist() == expected.tolist()
    assert expected.max() > 0
    assert (np.diff(found.incompatible[found.order]) <= 0).all()


def test_more_events_than_a_word_has_bits() -> None:
    rng = np.random.default_rng(1)
    women = rng.random(900) < 0.5
    drawn = np.where(women, rng.integers(0, 70, size=900), rng.integers(62, 90, size=900))
    frame = pl.DataFrame({"sex": women, "x": drawn})
    table = Table.from_frame(frame, Spec(qi=("sex",), sensitive="x", r=3))
    rules = all_rules(table, min_conf=1.0, min_exp=0.9, most=1)
    assert {event > 63 for _, event in rules} == {True, False}
    grouping = Injector().anonymize(table)
    check_buckets(table, grouping, denied_by(table, rules), 3)
    assert (table.rows - grouping.published) < 9


def two_sexes(values: str, sexes: str) -> Table:
    frame = pl.DataFrame({"sex": list(sexes), "x": list(values)})
    return Table.from_frame(frame, Spec(qi=("sex",), sensitive="x", r=2, protect=("A",)))


def test_rows_that_cannot_have_the_event_make_no_cover_for_it() -> None:
    table = two_sexes("A" * 10 + "B" * 10 + "C" * 20, "f" * 20 + "m" * 20)
    grouping = Injector().anonymize(table)
    women = np.arange(40) < 20
    for group in np.unique(row_groups(table, grouping)[:10]):
        assert women[row_groups(table, grouping) == group].sum() >= 2
    assert (table.rows - grouping.published) == 0
    assert grouping.claims["rules"] == 1


def test_what_cannot_be_hidden_is_suppressed_and_counted() -> None:
    # Ten women have A, two have not: two of the ten can hide, and men cover for nobody.
    table = two_sexes("A" * 10 + "B" * 2 + "C" * 28, "f" * 12 + "m" * 28)
    grouping = Injector().anonymize(table)
    assert (table.rows - grouping.published) == grouping.claims["suppressed"] == 8
    assert (table.row_event[row_groups(table, grouping) < 0] == 0).all()


def test_a_row_left_over_can_join_where_it_is_not_compatible_with_all() -> None:
    # One man is left. All buckets of two hold A, which he cannot have; but he can have his own
    # value and that of the woman without A, and two women can have A.
    table = two_sexes("A" * 10 + "B" * 10 + "C", "f" * 20 + "m")
    grouping = Injector(min_exp=0.3).anonymize(table)
    assert grouping.claims["rules"] == 1
    assert (grouping.claims["left_over"], (table.rows - grouping.published)) == (1, 0)
    assert sorted(np.bincount(row_groups(table, grouping)).tolist()) == [2] * 9 + [3]


def test_an_event_left_over_needs_l_rows_that_could_have_it() -> None:
    # The last woman with A could join two men and a woman without, and be one of two who can have
    # A; for l = 3 that is not enough, though perfect matchings give her all values of that bucket.
    table = two_sexes("A" * 2 + "B" * 5 + "C" * 9, "f" * 7 + "m" * 9)
    assert Injector(l=3).anonymize(table).published == table.rows
    fewer = two_sexes("A" * 2 + "B" * 3 + "C" * 9, "f" * 5 + "m" * 9)
    grouping = Injector(l=3, min_exp=0.5).anonymize(fewer)
    assert grouping.claims["rules"] == 1
    assert fewer.row_event[row_groups(fewer, grouping) < 0].tolist() == [0]


def test_one_event_with_filler_is_one_row_and_lookalikes() -> None:
    table = random_table(3, rows=400, protect=["A"], values=8)
    grouping = Injector(l=4).anonymize(table)
    assert grouping.claims["rules"] > 0
    event = np.bincount(
        row_groups(table, grouping)[(table.row_event == 0) & (row_groups(table, grouping) >= 0)]
    )
    assert event.max() == 1
    sizes = np.bincount(row_groups(table, grouping)[row_groups(table, grouping) >= 0])
    assert sizes.min() >= 4
    assert (table.rows - grouping.published) == 0
    assert sizes.sum() == 400


def test_same_seed_same_buckets() -> None:
    table = random_table(1, rows=300, protect=["A", "B"])
    one, same, other = (Injector().anonymize(table, seed=seed) for seed in (4, 4, 5))
    assert np.array_equal(row_groups(table, one), row_groups(table, same))
    assert not np.array_equal(row_groups(table, one), row_groups(table, other))


def test_group_numbers_say_nothing_about_the_order_of_making() -> None:
    table = two_sexes("A" * 20 + "B" * 180, "fm" * 100)
    grouping = Injector().anonymize(table)
    with_event = np.unique(row_groups(table, grouping)[table.row_event == 0])
    assert len(with_event) == 20
    assert with_event.max() > 50  # of 100, though buckets with the event are made first


def test_l_follows_from_r_and_a_too_frequent_event_is_refused() -> None:
    frame = pl.DataFrame({"q": list("ab" * 10), "x": ["A"] * 6 + ["B"] * 14})
    chosen = Spec(qi=("q",), sensitive="x", r=2.5, protect=("A",))
    table = Table.from_frame(frame, chosen)
    assert Injector().anonymize(table).claims["l"] == 3
    check_eligible(table, 3)
    with pytest.raises(InputError) as caught:
        Injector(l=4).anonymize(table)
    assert caught.value.code == "ineligible"
    assert '"A"' in caught.value.problem
    assert "30 %" in caught.value.problem
    assert "largest l that works is 3" in caught.value.remedy
    everything = Table.from_frame(frame, chosen.with_(protect=None))
    with pytest.raises(InputError, match=r"No l works"):
        check_eligible(everything, 2)


def test_parameters_are_checked() -> None:
    wrong: list[dict[str, object]] = [
        {"min_conf": 0},
        {"min_conf": 1.1},
        {"min_exp": -1},
        {"min_exp": float("nan")},
        {"max_rule_attributes": 0},
        {"max_rule_attributes": 1.5},
    ]
    for parameters in wrong:
        with pytest.raises(InputError):
            Injector(**parameters)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        Injector(l=1).anonymize(random_table(1, rows=50, protect=["A"]))


def test_it_is_an_anonymizer_and_reports_progress() -> None:
    method: Anonymizer = Injector()
    steps: list[tuple[str, int, int]] = []
    method.anonymize(
        random_table(7, rows=101, protect=None),
        progress=lambda step, done, total: steps.append((step, done, total)),
    )
    assert method.name == "injector"
    assert {step for step, _, _ in steps} >= {"rules about 1 of the QIs", "buckets"}
    assert all(0 <= done <= total for _, done, total in steps)


# --- Real size ---------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(("r", "groups"), [(10, 4522), (2, 22611)])
def test_adult(adult_path: Path, r: int, groups: int) -> None:
    chosen = Spec(qi=ADULT_QI[:5], sensitive=ADULT_SENSITIVE, r=r, protect=(Event(ADULT_EVENT),))
    table = Table.from_frame(adult(adult_path), chosen)
    grouping = Injector().anonymize(table)
    assert (grouping.count, (table.rows - grouping.published)) == (groups, 0)
    rules = mine(table, min_conf=1.0, min_exp=0.9, max_attributes=None, progress=silent)
    assert rules.count == grouping.claims["rules"] == 180
    denied = rules.impossible[table.row_signature, 0]
    assert not denied[table.row_event == 0].any()
    could = np.bincount(row_groups(table, grouping)[~denied], minlength=grouping.count)
    assert could[row_groups(table, grouping)[table.row_event == 0]].min() >= r


def test_all_values_protected_at_size() -> None:
    table = Table.from_frame(
        hospital(50_000), Spec(qi=HOSPITAL_QI, sensitive=HOSPITAL_SENSITIVE, r=3)
    )
    grouping = Injector().anonymize(table)
    rules = mine(table, min_conf=1.0, min_exp=0.9, max_attributes=None, progress=silent)
    none = np.zeros((table.rows, 1), dtype=bool)
    denied = np.hstack([rules.impossible[table.row_signature], none])
    check_buckets(table, grouping, denied, 3)
    assert (table.rows - grouping.published) < 0.01 * table.rows
