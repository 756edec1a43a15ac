"""Releases of other tools: aligned by order or by key, their values, and what does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.auditing.align import Aligned, align_release, labels_of
from shoal.auditing.audit import audit, grouped
from shoal.auditing.verdict import Audit
from shoal.data.spec import Event, InputWarning, Spec
from shoal.data.table import Table
from shoal.errors import InputError

SPEC = Spec(qi=("age", "sex"), sensitive="illness", protect=(Event(("HIV", "TB")),), r=2)
TABLE = pl.DataFrame(
    {
        "id": [11, 12, 13, 14, 15, 16],
        "age": [31, 35, 38, 52, 55, 58],
        "sex": list("FMFMFM"),
        "illness": ["flu", "HIV", "cold", "TB", "flu", "flu"],
        "g": ["a", "a", "b", "b", None, "a"],
    }
)
RELEASED = pl.DataFrame(
    {"id": [11, 12, 13, 14, 15, 16], "age": ["30-39"] * 3 + ["50-59"] * 3, "sex": ["*"] * 6}
)


def released(**columns: Any) -> pl.DataFrame:
    return RELEASED.with_columns(**{name: pl.Series(given) for name, given in columns.items()})


def judged(aligned: Aligned) -> Audit:
    return audit(aligned.table, aligned.grouping, rows=aligned.rows)


def test_classes_are_the_combinations_of_released_values() -> None:
    table, grouping, rows = align_release(TABLE, RELEASED, SPEC)
    assert rows.tolist() == [0, 0, 0, 1, 1, 1]
    assert grouping.shown is None
    assert not table.spec.publish_members
    finer = align_release(TABLE, released(sex=list("FMFMFM")), SPEC).rows
    assert finer.tolist() == [0, 1, 0, 3, 2, 3]


def test_missing_released_values_are_a_class_of_their_own() -> None:
    rows = align_release(TABLE, released(age=["30-39", None, None] + ["50-59"] * 3), SPEC).rows
    assert rows.tolist() == [0, 2, 2, 1, 1, 1]


def test_a_key_aligns_rows_in_any_order_and_finds_the_suppressed() -> None:
    shuffled = RELEASED[[4, 0, 3, 1]]
    rows = align_release(TABLE, shuffled, SPEC, key="id").rows
    assert rows.tolist() == [0, 0, -1, 1, 1, -1]
    values = shuffled.with_columns(illness=pl.Series(["flu", "flu", "TB", "HIV"]))
    table, grouping, _ = align_release(TABLE, values, SPEC, key="id")
    assert grouping.shown is None
    assert audit(table, grouping).suppressed == 2


def test_shown_members_are_judged_as_members() -> None:
    table, grouping, _ = align_release(TABLE, released(illness=TABLE["illness"]), SPEC)
    assert table.spec.publish_members
    assert "HIV" in table.values
    assert grouping.shown is None


def test_a_label_instead_of_members_is_judged_as_a_label() -> None:
    shown = ["flu", "HIV|TB", "cold", "HIV|TB", "flu", "flu"]
    table, grouping, _ = align_release(TABLE, released(illness=shown), SPEC)
    assert not table.spec.publish_members
    assert "HIV|TB" in table.values
    assert grouping.shown is None


def test_changed_values_are_judged_as_published() -> None:
    shown = ["flu", "flu", "cold", "TB", "flu", "HIV"]
    table, grouping, rows = align_release(TABLE, released(illness=shown), SPEC)
    assert grouping.shown is not None
    published = zip(grouping.group, grouping.shown, grouping.rows, strict=True)
    assert sorted((g, table.values[v]) for g, v, n in published for _ in range(n)) == sorted(
        zip(rows.tolist(), shown, strict=True)
    )
    found = audit(table, grouping)
    assert found.event_groups == 1
    assert np.isclose(found.worst_posterior, 2 / 3)


def test_a_column_labels_groups_and_a_missing_label_means_not_published() -> None:
    table = Table.from_frame(TABLE, SPEC)

    def labelled(frame: pl.DataFrame) -> list[int]:
        rows = grouped(table, labels_of(frame, "g"), None)[2]
        assert rows is not None
        return rows.tolist()

    assert labelled(TABLE) == [0, 0, 1, 1, -1, 0]
    numbers = TABLE.with_columns(g=pl.Series([7, 7, -1, 9, 9, 9]))
    assert labelled(numbers) == [0, 0, -1, 1, 1, 1]
    holes = TABLE.with_columns(g=pl.Series([7.0, 7.0, float("nan"), 9.0, 9.0, 9.0]))
    assert labelled(holes) == [0, 0, -1, 1, 1, 1]


@pytest.mark.parametrize(
    ("frame", "key", "code", "words"),
    [
        (RELEASED.drop("age"), None, "released-column", '"age"'),
        (RELEASED.rename({"age": "agee"}), None, "released-column", 'did you mean "agee"'),
        (RELEASED.head(5), None, "released-rows", "6 rows and the release 5"),
        (RELEASED.head(0), "id", "released-empty", "no rows"),
        (RELEASED.drop("id"), "id", "key-missing", 'release has no key column "id"'),
        (RELEASED, "code", "key-missing", 'table has no key column "code"'),
        (released(id=[11, 11, 13, 14, 15, 16]), "id", "key-twice", "repeats in the release"),
        (released(id=[11, 99, 13, 14, 15, 16]), "id", "key-stray", '"99"'),
        (released(illness=["flue"] * 6), None, "released-value", 'did you mean "flu"'),
        (released(illness=["flu"] * 5 + [None]), None, "released-value", "(missing)"),
    ],
)
def test_what_does_not_fit_is_named(frame: Any, key: str | None, code: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        align_release(TABLE, frame, SPEC, key=key)
    assert raised.value.code == code
    assert words in raised.value.problem


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 3, 4, 2, 1, 0], [2, 5, 0, 4, 1, 3]])
def test_of_equal_links_the_first_row_is_named_everywhere(order: list[int]) -> None:
    table = TABLE.with_columns(illness=pl.Series(["flu", "HIV", "flu", "TB", "flu", "flu"]))
    found = judged(align_release(table[order], RELEASED[order], SPEC))
    assert found.worst is not None
    assert found.worst.row == found.worst_by_event["HIV|TB"].row == 0


# --- The order of the rows, without a key ---------------------------------------------------

REVERSED = {name: TABLE[name].to_list()[::-1] for name in TABLE.columns}
GENERAL = RELEASED.drop("id").with_columns(age=pl.lit("*"))


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ({"id": REVERSED["id"]}, 0),
        ({"id": [str(i) for i in REVERSED["id"]]}, 0),
        ({"id": [11, 12, 13, 14, 16, 15]}, 4),
        ({"sex": REVERSED["sex"]}, 0),
        ({"sex": ["F", "*", "*", "M", "F", "F"]}, 5),
        ({"age": [31.0, 35.0, 52.0, 38.0, 55.0, 58.0]}, 2),
        ({"age": ["50-59"] * 3 + ["30-39"] * 3}, 0),
        (
            {"age": ["[31, 35]", "[31, 35]", "[52, 58]", "[31, 38] or (missing)", "*", "[52, 58]"]},
            2,
        ),
        ({"sex": ["{F, M}"] * 6, "g": ["{a, b}", "b", "a", "b", None, "a"]}, 1),
    ],
)
def test_another_order_is_refused_with_the_row_that_shows_it(
    columns: dict[str, Any], row: int
) -> None:
    with pytest.raises(InputError, match=f"^Row {row} has ") as raised:
        align_release(TABLE, released(**columns), SPEC)
    assert raised.value.code == "released-order"
    assert "--key" in raised.value.remedy
    align_release(TABLE, released(**columns | {"id": TABLE["id"]}), SPEC, key="id")


@pytest.mark.parametrize(
    "columns",
    [
        {"age": [30, 30, 30, 50, 50, 50]},
        {"age": [31, 31, 31, 52, 52, 52]},  # a class is named by one of its values
        {"age": ["30-39", "30-39", "40-59", "40-59", "40-59", "40-59"]},  # 38 is in a loose range
        {"age": ["39-30"] * 6},
        {"sex": ["{F, M}", "{F, M}", "F", "M", "*", None]},
        {"sex": ["{x, M}"] * 6},
        {"g": ["a", "a", "b", "b", "a", "a"]},  # a missing value was filled
    ],
)
def test_generalized_values_in_order_are_taken(columns: dict[str, Any]) -> None:
    align_release(TABLE, released(**columns), SPEC)


@pytest.mark.parametrize("seed", range(5))
def test_changed_sensitive_values_are_told_from_another_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "age": rng.integers(20, 70, 400),
            "sex": rng.choice(["F", "M"], 400),
            "illness": rng.choice(["flu", "cold", "HIV", "TB"], 400, p=[0.6, 0.3, 0.05, 0.05]),
        }
    )
    ages = (pl.col("age") // 10).cast(pl.String) + "x"
    general = table.with_columns(ages, sex=pl.lit("*"))
    with pytest.raises(InputError, match="a random order would make") as raised:
        align_release(table, general.sample(fraction=1, shuffle=True, seed=seed), SPEC)
    assert raised.value.code == "released-order"
    some = rng.random(400) < 0.2
    values = table["illness"].to_numpy().copy()
    values[some] = rng.permutation(values[some])
    assert align_release(table, general.with_columns(illness=values), SPEC)[1].shown is not None


@pytest.mark.parametrize("more", [{}, {"age": ["30-99"] * 6}])
def test_where_nothing_tells_the_order_it_says_so(more: dict[str, Any]) -> None:
    other = GENERAL.with_columns(**{name: pl.Series(given) for name, given in more.items()})
    with pytest.warns(InputWarning, match="No column shows whether the release has"):
        align_release(TABLE, other, SPEC)
    align_release(TABLE, other.with_columns(TABLE["illness"]), SPEC)


def test_a_protected_value_with_an_unprotected_twin_is_warned_of() -> None:
    table = TABLE.with_columns(illness=pl.Series(["flu", "HIV", "cold", "TB", "hiv ", "flu"]))
    with pytest.warns(InputWarning, match='"HIV" and "hiv "'):
        align_release(table, RELEASED, SPEC)
    with pytest.warns(InputWarning, match='"HIV" and "hiv "'):
        shoal.audit(table, SPEC, groups="g")


def test_a_group_column_that_does_not_exist_is_named() -> None:
    with pytest.raises(InputError, match='did you mean "g"') as raised:
        labels_of(TABLE, "gg")
    assert raised.value.code == "groups-column"
