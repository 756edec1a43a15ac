"""Knowledge: every view against a plain group-by, the fall-back, and the limits."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from shoal.data.datasets import ADULT_EVENT, ADULT_QI, adult, hospital
from shoal.data.spec import MISSING, Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError, InternalError
from shoal.knowledge import (
    Knowledge,
    View,
    attribute_codes,
    count_values,
    event_chances,
    table_distribution,
    value_chances,
    with_pool,
)

QI = ("age", "sex", "region", "occupation")
FRAME = hospital(2500, seed=7).with_columns(
    pl.when(pl.int_range(pl.len()) % 11 == 0).then(None).otherwise("age").alias("age")
)


def table(frame: pl.DataFrame = FRAME, **changes: Any) -> Table:
    defaults: dict[str, Any] = {"qi": QI, "sensitive": "diagnosis", "r": 5, "min_support": 40}
    return Table.from_frame(frame, Spec(**(defaults | changes)))


def recomputed(made: Table, frame: pl.DataFrame, attributes: list[str]) -> NDArray[np.float64]:
    """The same with nothing but windows over rows, the plain way."""
    holds = [(pl.col("published") == value) for value in range(len(made.values))]
    rows = frame.with_columns(pl.Series("published", made.row_value))
    whole = rows.select(share.mean().alias(str(v)) for v, share in enumerate(holds)).row(0)
    if not attributes:
        return np.array([whole] * len(rows))
    enough = pl.len().over(attributes) >= made.spec.min_support
    known = [
        pl.when(enough).then(share.mean().over(attributes)).otherwise(whole[v]).alias(str(v))
        for v, share in enumerate(holds)
    ]
    return rows.select(known).to_numpy()


def assert_known(made: Table, frame: pl.DataFrame, view: View) -> None:
    """What the view knows of every row is what the plain way finds."""
    expected = recomputed(made, frame, list(view.attributes))
    found = view.distributions[view.index[made.row_signature]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def subsets(names: tuple[str, ...], largest: int) -> list[tuple[str, ...]]:
    return [view for size in range(1, largest + 1) for view in combinations(names, size)]


# --- Views of the table itself -----------------------------------------------------------


@pytest.mark.parametrize("min_support", [1, 40, 300])
@pytest.mark.parametrize("protect", [None, [["HIV", "Schizophrenia"], ["Asthma"]]])
def test_every_view_is_a_group_by(min_support: int, protect: Any) -> None:
    made = table(min_support=min_support, protect=protect, rare_unknown="age")
    known = Knowledge.from_table(made)
    assert known.source == f"the table itself, min_support {min_support}"
    expected = [
        view
        for view in subsets(QI, 4)
        if FRAME.group_by(view).len()["len"].max() >= min_support  # type: ignore[operator]
    ]
    assert [view.attributes for view in known.views] == expected
    for view in known.views:
        assert_known(made, FRAME, view)


def test_below_min_support_the_adversary_falls_back_on_the_whole_table() -> None:
    made = table(qi=["age"], min_support=60, rare_unknown="age")
    (view,) = Knowledge.from_table(made).views
    support = made.signature_rows
    assert (support < 60).any()
    assert (support >= 60).any()
    assert np.array_equal(view.index == 0, support < 60)
    assert view.distributions[0] == pytest.approx(table_distribution(made))
    assert not np.allclose(view.distributions[1:], view.distributions[0])
    assert len(view.distributions) == 1 + (support >= 60).sum()


def test_exactly_min_support_rows_are_enough() -> None:
    frame = pl.DataFrame({"q": ["a"] * 4 + ["b"] * 5, "x": list("stststttt")})
    (view,) = Knowledge.from_table(table(frame, qi=["q"], sensitive="x", min_support=5)).views
    assert view.index.tolist() == [0, 1]
    assert view.distributions.tolist() == [[3 / 9, 6 / 9], [1 / 5, 4 / 5]]


def test_views_in_which_nothing_counts_are_dropped() -> None:
    known = Knowledge.from_table(table(min_support=400))
    assert ("sex",) in [view.attributes for view in known.views]
    assert QI not in [view.attributes for view in known.views]
    assert ("age",) not in [view.attributes for view in known.views]


def test_when_all_views_are_dropped_the_whole_table_is_still_known() -> None:
    made = table(min_support=2500)
    (view,) = Knowledge.from_table(made).views
    assert view.attributes == ()
    assert view.name == "(whole table)"
    assert_known(made, FRAME, view)


def test_missing_values_are_known_like_any_other() -> None:
    made = table(qi=["age"], min_support=100, rare_unknown="age")
    (view,) = Knowledge.from_table(made).views
    missing = [s for s in range(len(made.signatures)) if made.describe(s)["age"] == MISSING]
    expected = recomputed(made, FRAME, ["age"])[FRAME["age"].is_null().to_numpy()][0]
    assert view.distributions[view.index[missing[0]]] == pytest.approx(expected)
    assert view.index[missing[0]] > 0


# --- Which views -------------------------------------------------------------------------


@pytest.mark.parametrize("largest", [1, 2, 3, 9])
def test_max_attributes(largest: int) -> None:
    known = Knowledge.from_table(table(max_attributes=largest, min_support=1))
    assert [view.attributes for view in known.views] == subsets(QI, min(largest, 4))


def test_explicit_views() -> None:
    made = table(views=[["sex", "region"], ["occupation"], []], max_attributes=1)
    known = Knowledge.from_table(made)
    assert [view.name for view in known.views] == ["sex + region", "occupation", "(whole table)"]
    for view in known.views:
        assert_known(made, FRAME, view)


def test_an_empty_list_of_views_leaves_the_whole_table() -> None:
    (view,) = Knowledge.from_table(table(views=[])).views
    assert view.attributes == ()


def test_bands_are_further_attributes() -> None:
    made = table(qi=["age", "sex"], bands=[("age", 10), ("age", 25)], min_support=1)
    known = Knowledge.from_table(made)
    assert [view.attributes for view in known.views] == [
        ("age",),
        ("age/10",),
        ("age/25",),
        ("sex",),
        ("age", "sex"),
        ("age/10", "sex"),
        ("age/25", "sex"),
    ]
    banded = FRAME.with_columns(
        (pl.col("age") // 10).alias("age/10"), (pl.col("age") // 25).alias("age/25")
    )
    for view in known.views:
        assert_known(made, banded, view)


def test_labels_of_bands() -> None:
    frame = pl.DataFrame({"q": [-0.5, 0.0, 9.9, 10.0, None, 31.0], "x": list("aabbab")})
    made = table(frame, qi=["q"], sensitive="x", bands={"q": 10})
    codes, labels = attribute_codes(made, "q/10")
    assert [labels[code] for code in codes] == [
        "[-10, 0)",
        "[0, 10)",
        "[0, 10)",
        "[10, 20)",
        "[30, 40)",
        MISSING,
    ]
    assert attribute_codes(made, "q")[1] == ("-0.5", "0", "9.9", "10", "31", MISSING)


def test_text_cannot_be_banded() -> None:
    with pytest.raises(InputError) as raised:
        Knowledge.from_table(table(bands={"sex": 2}))
    assert raised.value.code == "band"
    assert str(raised.value) == '"sex" holds text and cannot be banded. Band numeric QIs only.'


def many_columns(count: int) -> pl.DataFrame:
    return pl.DataFrame({f"q{i}": [1, 2] for i in range(count)} | {"x": ["a", "b"]})


@pytest.mark.parametrize(
    ("columns", "bands", "views"), [(13, 0, 8191), (11, 3, 2**8 * 3**3 - 1), (12, 1, 6143)]
)
def test_too_many_views_are_refused_before_they_are_counted(
    columns: int, bands: int, views: int
) -> None:
    qi = [f"q{i}" for i in range(columns)]
    asked = {"qi": qi, "bands": dict.fromkeys(qi[:bands], 10), "min_support": 1}
    made = table(many_columns(columns), sensitive="x", **asked)
    with pytest.raises(InputError) as raised:
        Knowledge.from_table(made)
    assert raised.value.code == "views-too-many"
    assert str(raised.value) == (
        f"{columns} QIs make {views:,} views, more than the 5,000 shoal judges. "
        "Limit the adversary with max_attributes, or list the views."
    )


def test_max_attributes_brings_many_columns_within_the_limit() -> None:
    qi = [f"q{i}" for i in range(13)]
    made = table(many_columns(13), qi=qi, sensitive="x", max_attributes=2, min_support=1)
    assert len(Knowledge.from_table(made).views) == 13 + 13 * 12 // 2


# --- Models and sums of knowledge ----------------------------------------------------------


def test_a_model_is_one_more_view() -> None:
    made = table(qi=["sex", "region"])
    rng = np.random.default_rng(0)
    fitted = rng.dirichlet(np.ones(len(made.values)), len(made.signatures))
    known = Knowledge.from_table(made) + Knowledge.model(made, "forest", fitted)
    assert [view.name for view in known.views] == ["sex", "region", "sex + region", "forest"]
    assert known.source == "the table itself, min_support 40; model forest"
    view = known.views[-1]
    assert np.array_equal(view.distributions[view.index], fitted)
    assert view.distributions[0] == pytest.approx(table_distribution(made))


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda fitted: fitted[:-1], "model-distribution"),
        (lambda fitted: fitted[:, :-1], "model-distribution"),
        (lambda fitted: fitted * 1.01, "model-distribution"),
        (lambda fitted: fitted - 0.2, "model-distribution"),
        (lambda fitted: fitted * np.nan, "model-distribution"),
    ],
    ids=["row missing", "value missing", "over 1", "below 0", "not a number"],
)
def test_a_model_must_give_a_distribution_for_every_signature(spoil: Any, code: str) -> None:
    made = table(qi=["sex"])
    fitted = np.full((len(made.signatures), len(made.values)), 1 / len(made.values))
    with pytest.raises(InputError) as raised:
        Knowledge.model(made, "forest", spoil(fitted))
    assert raised.value.code == code
    assert "model forest" in raised.value.problem


# --- Events and the pool -------------------------------------------------------------------


def chances_of(rows: NDArray[np.float64]) -> tuple[Table, View]:
    """A view with the given chances of the values a, b (each an event), c and d."""
    size = len(rows)
    frame = pl.DataFrame({"q": [str(i) for i in range(size)] * 4, "v": [*"abcd"] * size})
    spec = Spec(
        qi=("q",), sensitive="v", protect=(Event(("a",)), Event(("b",))), r=2, min_support=1
    )
    made = Table.from_frame(frame, spec)
    return made, Knowledge.model(made, "given", rows).views[0]


def test_the_pool_is_what_the_events_leave() -> None:
    rng = np.random.default_rng(3)
    rows = rng.dirichlet(np.ones(4), 200) * rng.uniform(0.1, 1, (200, 1))
    made, view = chances_of(rows)
    found = with_pool(view, made)
    some = np.array([4, 1, 4, 0], np.int32)
    assert np.array_equal(value_chances(view, made, some), found[:, some])
    assert np.array_equal(found[:, :-1], view.distributions)
    exact = [1 - Fraction(a) - Fraction(b) for a, b, *_ in view.distributions.tolist()]
    assert found[:, -1] == pytest.approx([float(one) for one in exact], rel=1e-12)


def test_who_has_the_same_chances_of_the_events_has_the_same_chance_of_the_pool() -> None:
    rng = np.random.default_rng(4)
    filler = rng.dirichlet(np.ones(2), 300) * rng.uniform(0.1, 1, (300, 1))
    rows = np.column_stack([np.full((300, 2), (0.1, 0.2)), filler * 0.7])
    made, view = chances_of(rows)
    assert len(set(with_pool(view, made)[1:, -1].tolist())) == 1


@pytest.mark.parametrize("rest", [1e-4, 1e-9, 1e-13, 1e-17, 1e-30, 0.0])
def test_the_pool_loses_no_digits_where_the_events_take_nearly_all(rest: float) -> None:
    row = np.array([0.3, 0.0, rest * 0.25, rest * 0.75])
    row[1] = 1.0 - row[[0, 2, 3]].sum()
    made, view = chances_of(row[None])
    assert with_pool(view, made)[1, -1] == pytest.approx(rest, rel=1e-12)


@pytest.mark.parametrize("rest", [1e-4, 1e-9, 1e-13, 1e-17, 0.0])
def test_only_what_leaves_no_other_value_is_certain(rest: float) -> None:
    made, view = chances_of(np.array([[1.0 - rest, rest, 0.0, 0.0], [1.0 - rest, 0.0, 0.0, 0.0]]))
    certain = event_chances(view, made)[1:, 0] == 1.0
    assert certain.tolist() == [rest == 0.0, rest < 1e-9]


# --- Promises ------------------------------------------------------------------------------


def test_the_spec_decides_where_knowledge_comes_from() -> None:
    made = table()
    assert Knowledge.of(made).source == Knowledge.from_table(made).source


def test_a_view_that_is_no_distribution_is_our_own_bug() -> None:
    index = np.zeros(1, np.int32)
    for rows in ([[0.7, 0.7]], [[-0.1, 0.5]]):
        with pytest.raises(InternalError, match=r"the view a \+ b holds something"):
            View(("a", "b"), index, np.array(rows))


def test_values_are_counted_by_class_of_signatures() -> None:
    made = table(qi=["sex", "region"])
    counts = count_values(made, np.arange(len(made.signatures), dtype=np.int32) % 3, 4)
    assert counts.shape == (4, len(made.values))
    assert np.array_equal(counts.sum(axis=0), made.value_rows)
    for part in range(3):
        rows = made.row_signature % 3 == part
        expected = np.bincount(made.row_value[rows], minlength=len(made.values))
        assert np.array_equal(counts[part], expected)
    assert not counts[3].any()


# --- Adult -------------------------------------------------------------------------------


@pytest.mark.data
def test_adult_has_the_figures_of_the_theory(adult_path: Path) -> None:
    qi = ADULT_QI[:5]
    spec = Spec(qi=qi, sensitive="education", protect=(Event(ADULT_EVENT),), r=10, min_support=1)
    made = Table.from_frame(adult(adult_path), spec)
    assert (made.row_event == 0).sum() == 1566
    known = Knowledge.from_table(made)
    assert len(known.views) == 31
    full = known.views[-1]
    assert full.attributes == qi
    (event_value,) = np.flatnonzero(made.value_event == 0)
    f = full.distributions[full.index[made.row_signature], event_value]
    assert len(made.signatures) == 10_380
    assert ((made.row_event == 0) & (f == 1)).sum() == 347
