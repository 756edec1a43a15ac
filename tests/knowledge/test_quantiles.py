"""Quantile bands: of which QIs they are known, how they are cut, and what cannot be banded."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.data.spec import MISSING, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Knowledge, attribute_codes, attribute_qi

ROWS = 2_000


def made(**columns: Any) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    some = {"sex": rng.choice(["f", "m"], ROWS), "x": rng.choice(["ill", "well"], ROWS)}
    return pl.DataFrame({**columns, **some})


def table(frame: pl.DataFrame, **asked: Any) -> Table:
    qi = [name for name in frame.columns if name != "x"]
    defaults = {"qi": qi, "sensitive": "x", "protect": ["ill"], "r": 3, "min_support": 100}
    return Table.from_frame(frame, Spec(**(defaults | asked)))


def views(frame: pl.DataFrame, **asked: Any) -> list[str]:
    return [view.name for view in Knowledge.of(table(frame, **asked)).views]


def numbers(distinct: int, seed: int = 1) -> list[int]:
    return np.random.default_rng(seed).integers(0, distinct, ROWS).tolist()


def cut_plainly(values: list[Any], bands: int, support: int) -> list[set[Any]]:
    """Which values are in one band, person by person."""
    there = [value for value in values if value is not None]
    parts: list[set[Any]] = [set() for _ in range(bands)]
    for value in sorted(set(there)):
        below, same = sum(v < value for v in there), there.count(value)
        parts[min(bands - 1, int((below + same / 2) / len(there) * bands))].add(value)
    joined: list[set[Any]] = [set()]
    for part in parts:
        if sum(value in joined[-1] for value in there) >= support:
            joined.append(set())
        joined[-1] |= part
    if len(joined) > 1 and sum(value in joined[-1] for value in there) < support:
        last = joined.pop()
        joined[-1] |= last
    return joined


# --- Of which QIs --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("support", "bands"), [(1, None), (20, 16), (100, 4), (250, 2), (1_000, 2), (1_001, None)]
)
def test_bands_are_as_many_as_leave_large_classes(support: int, bands: int | None) -> None:
    found = views(made(income=numbers(ROWS // 3)), min_support=support)
    known = [name for name in found if "income/" in name]
    expected = [f"income/q{bands}", f"income/q{bands} + sex"] if bands else []
    assert known == (expected if support < 1_000 else expected[:1])


@pytest.mark.parametrize(("rare", "banded"), [(0.09, False), (0.11, True)])
def test_from_a_tenth_of_the_people_on_who_are_in_no_class(rare: float, banded: bool) -> None:
    few = int(rare * ROWS)
    income = [0] * (ROWS - few) + list(range(1, few + 1))
    found = views(made(income=income), min_support=100)
    assert ("income/q4" in found) is banded
    assert "income" in found
    if banded:
        made_of = table(made(income=income), min_support=100)
        assert attribute_codes(made_of, "income/q4")[1] == (MISSING, "0", f"1 to {few}")


def test_bands_that_the_spec_names_do_as_well() -> None:
    frame = made(income=numbers(ROWS))
    assert "income/q4" in views(frame)
    assert "income/q4" not in views(frame, bands={"income": 200})
    assert "income/q4" in views(frame, bands={"income": 2})


def test_the_spec_may_say_that_nobody_has_figures_by_it() -> None:
    frame = made(income=numbers(ROWS))
    assert views(frame, rare_unknown="income") == ["sex"]
    with pytest.raises(InputError) as raised:
        table(frame, rare_unknown="incom")
    assert raised.value.code == "rare-column"


def test_after_recoding() -> None:
    frame = made(income=numbers(ROWS))
    assert not any("/q" in name for name in views(frame, recode={"income": {"bands": 200}}))
    assert "income/q4" in views(frame, recode={"income": {"missing": [7]}})


def test_dates_have_bands_too() -> None:
    days = [date(1980, 1, 1) + timedelta(number) for number in numbers(900)]
    assert "born/q4" in views(made(born=days))


# --- How they are cut ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_bands_are_cut_as_the_plain_way_cuts_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, distinct, bands = (int(rng.integers(*span)) for span in ((30, 200), (2, 90), (2, 17)))
    values = rng.geometric(1 / distinct, rows).astype(float).tolist()
    values = [None if rng.random() < 0.05 else value for value in values]
    frame = pl.DataFrame({"q": values, "x": ["ill", "well"] * (rows // 2) + ["ill"] * (rows % 2)})
    support = int(rng.integers(1, 30))
    one = table(frame, min_support=support)
    codes, labels = attribute_codes(one, f"q/q{bands}")
    found: dict[int, set[Any]] = {}
    for signature, code in enumerate(codes.tolist()):
        found.setdefault(code, set()).add(one.qi[0].values[int(one.signatures[signature, 0])])
    missing = found.pop(0, set())
    assert missing == ({None} if None in values else set())
    expected = cut_plainly(values, bands, support)
    assert [found[code] for code in sorted(found)] == expected
    assert sorted(found) == list(range(1, len(labels)))
    assert labels[0] == MISSING
    ends = [
        f"{min(part):g} to {max(part):g}" if len(part) > 1 else f"{min(part):g}"
        for part in expected
    ]
    assert list(labels[1:]) == ends


def test_a_band_is_known_as_the_rows_in_it() -> None:
    frame = made(income=numbers(ROWS))
    one = table(frame)
    parts = cut_plainly(frame["income"].to_list(), 4, 100)
    (view,) = [view for view in Knowledge.of(one).views if view.name == "income/q4 + sex"]
    for part in parts:
        for sex in ("f", "m"):
            rows = frame["income"].is_in(list(part)) & (frame["sex"] == sex)
            share = (frame.filter(rows)["x"] == "ill").mean()
            found = view.distributions[view.index[one.row_signature[rows.to_numpy()]]]
            assert found[:, one.values.index("ill")] == pytest.approx(share)


def test_the_order_of_rows_makes_no_difference() -> None:
    frame = made(income=numbers(ROWS))
    one, other = (Knowledge.of(table(rows)) for rows in (frame, frame.reverse()))
    for mine, theirs in zip(one.views, other.views, strict=True):
        assert mine.attributes == theirs.attributes
        assert np.array_equal(mine.distributions, theirs.distributions)


def test_views_may_name_them() -> None:
    frame = made(income=numbers(ROWS))
    assert views(frame, views=[["income/q8", "sex"]]) == ["income/q8 + sex"]
    assert attribute_qi(table(frame), "income/q8") == 0
    assert attribute_qi(table(frame), "sex/q8") is None
    with pytest.raises(InputError) as raised:
        views(frame, views=[["sex/q8"]])
    assert raised.value.code == "view-attribute"
    with pytest.raises(InputError) as raised:
        views(frame, views=[["income/q0"]])
    assert raised.value.code == "view-attribute"


def test_no_qi_may_have_their_name() -> None:
    frame = made(income=numbers(ROWS)).with_columns(pl.col("sex").alias("income/q4"))
    with pytest.raises(InputError) as raised:
        table(frame, qi=["income", "income/q4"])
    assert raised.value.code == "band"


# --- Text ----------------------------------------------------------------------------------


def test_text_with_many_values_is_refused() -> None:
    frame = made(town=[f"t{number}" for number in numbers(ROWS)])
    with pytest.raises(InputError) as raised:
        views(frame)
    assert raised.value.code == "qi-rare"
    assert '"town" holds text with' in raised.value.problem
    assert "--rare-unknown town" in raised.value.remedy
    assert views(frame, rare_unknown="town") == ["sex"]
    assert "town" in views(frame, recode={"town": {"rare": 100}})


def test_text_of_a_small_table_is_not() -> None:
    frame = made(town=[f"t{number}" for number in numbers(60)])
    assert views(frame) == ["sex"]
    common = ["here"] * 300 + [f"t{number}" for number in range(ROWS - 300)]
    assert "town" in views(made(town=common))
