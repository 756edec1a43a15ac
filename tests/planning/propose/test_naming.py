"""QIs that name people: refused if every row has its own value, warned of if most have."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.spec import InputWarning, Spec
from shoal.errors import InputError

ROWS = 1000


def people(**columns: Any) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    plain = {"sex": rng.choice(["F", "M"], ROWS), "d": rng.choice(["x", "y"], ROWS, p=[0.1, 0.9])}
    return pl.DataFrame(plain | columns)


def spec(*qi: str, **changes: Any) -> Spec:
    return Spec(qi=("sex", *qi), sensitive="d", protect=["x"], r=2, **changes)


@pytest.mark.parametrize(
    ("values", "way"),
    [
        ([f"P{i}" for i in range(ROWS)], "hierarchy=FILE"),
        (list(range(ROWS)), "quantiles=8"),
        (pl.date_range(pl.date(2000, 1, 1), pl.date(2002, 9, 26), eager=True), "date=year"),
    ],
)
@pytest.mark.parametrize("verb", [shoal.anonymize, shoal.plan, shoal.compare])
def test_a_key_is_refused(verb: Any, values: Any, way: str) -> None:
    with pytest.raises(InputError) as raised:
        verb(people(key=values), spec("key"))
    assert raised.value.code == "qi-key"
    assert str(raised.value) == (
        'The QI "key" has another value in each of the 1,000 rows, so it would publish who '
        f"everybody is. Leave it out, or make it coarser: --recode key:{way}."
    )


def test_whoever_judges_is_warned_of_a_key() -> None:
    frame = people(key=range(ROWS))
    with pytest.warns(InputWarning, match="1,000 of its 1,000 values are held by one person only"):
        shoal.audit(frame, spec("key"), groups=np.arange(ROWS) // 10)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            [f"note {max(i, 300)}" for i in range(ROWS)],
            'The QI "free" nearly names people: 699 of its 700 values are held by one person only, '
            "whom whoever knows the value finds. Leave it out, or make it coarser: "
            "--recode free:hierarchy=FILE.",
        ),
        (
            [max(i, 400) + 0.25 for i in range(ROWS)],
            'The QI "free" is published too exactly: 599 of its 600 values are held by one person '
            "only, whom whoever knows the value finds. Make it coarser: --recode free:quantiles=8.",
        ),
    ],
)
def test_what_nearly_names_people_is_warned_of(values: list[Any], text: str) -> None:
    with pytest.warns(InputWarning, match=re.escape(text)):
        shoal.plan(people(free=values), spec("free"))


def test_what_many_share_or_few_rows_have_or_is_made_coarser_is_not() -> None:
    shoal.plan(people(free=[max(i, 500) for i in range(ROWS)]), spec("free"))
    shoal.plan(people(key=range(ROWS)).head(ROWS - 1), spec("key"))
    shoal.plan(people(key=range(ROWS)), spec("key", recode={"key": {"quantiles": 8}}))
