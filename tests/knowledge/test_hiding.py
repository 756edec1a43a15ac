"""The bound on how many carriers can be hidden: against the definition, group by group, and against
what the search finds."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Hiding, Knowledge
from shoal.methods.art import Art

ODDS = st.sampled_from((0.01, 0.1, 0.3, 1.0, 2.0, 10.0))


def posteriors(odds: list[float], carriers: int) -> list[float]:
    """By the definition: worlds in which so many people carry, weighed by their odds."""
    worlds = [(prod(odds[i] for i in who), who) for who in combinations(range(len(odds)), carriers)]
    every = sum(weight for weight, _ in worlds)
    return [sum(w for w, who in worlds if i in who) / every for i in range(len(odds))]


@settings(max_examples=300)
@given(st.lists(ODDS, min_size=2, max_size=9), st.integers(1, 4), st.data())
def test_no_group_hides_more_than_the_bound(
    odds: list[float], carriers: int, data: st.DataObject
) -> None:
    carriers = min(carriers, len(odds) - 1)
    r = 1 / max(posteriors(odds, carriers))  # the strictest limit that the group keeps
    if r <= 1 + 1e-9:
        return
    who = data.draw(
        st.sets(st.sampled_from(range(len(odds))), min_size=carriers, max_size=carriers)
    )
    others = [o for i, o in enumerate(odds) if i not in who]
    for threshold in {odds[i] for i in who}:
        q = [min(1.0, o / threshold) for o in others]
        bound = sum(r * one / (r - 1 + one) for one in q) / (r - 1)
        assert sum(odds[i] >= threshold for i in who) <= bound * (1 + 1e-9)


def random_table(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 90))
    p, share = rng.integers(0, 3, n), rng.uniform(0.05, 0.7, 3)
    v = np.where(rng.random(n) < share[p], "x", rng.choice(list("yzw"), n))
    v[:2] = ["x", "y"]
    spec = Spec(
        qi=("p", "q"),
        sensitive="v",
        protect=None if rng.random() < 0.3 else ["x"],
        r=float(rng.choice([1.3, 2, 3, 5])),
        min_support=int(rng.choice([1, 5, 15])),
    )
    frame = pl.DataFrame({"p": p.astype(str), "q": rng.integers(0, 2, n).astype(str), "v": v})
    return Table.from_frame(frame, spec)


def test_whoever_is_refused_early_would_have_been_refused_late() -> None:
    early = 0
    for seed in range(30):
        table = random_table(seed)
        lost = Hiding(table, Knowledge.of(table)).lost()
        for condition in ("joint", "bound"):
            found = Art(condition=condition, max_suppression=1).anonymize(table, seed=seed)
            assert table.carriers - found.carriers(table) >= lost
        early += lost > 0.05 * table.carriers
    assert early > 10


def test_the_same_where_a_person_carries_several_events() -> None:
    early = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        frame = pl.DataFrame(
            {
                "p": rng.choice(list("abc"), 80),
                "u": ["yes", "no", *rng.choice(["yes", "no"], 78, p=[0.4, 0.6])],
                "v": ["no", "yes", *rng.choice(["yes", "no"], 78, p=[0.2, 0.8])],
            }
        )
        events = [{"values": ["yes"], "column": [one], "label": one} for one in "uv"]
        spec = Spec(qi="p", sensitive=["u", "v"], protect=events, r=3, min_support=10)
        table = Table.from_frame(frame, spec)
        lost = Hiding(table, Knowledge.of(table)).lost()
        found = Art(max_suppression=1).anonymize(table, seed=seed)
        assert table.carriers - found.carriers(table) >= lost
        early += lost > 0
    assert early > 3


def common(**changes: object) -> Table:
    frame = pl.DataFrame(
        {"q": ["a"] * 500 + ["b"] * 500, "v": ["x"] * 300 + ["y"] * 200 + ["x"] * 10 + ["y"] * 490}
    )
    given = {"qi": "q", "sensitive": "v", "protect": ["x"], "r": 3.0} | changes
    return Table.from_frame(frame, Spec(**given))  # type: ignore[arg-type]


def test_what_cannot_be_is_refused_before_the_search() -> None:
    with pytest.raises(InputError) as raised:
        Art().anonymize(common())
    assert raised.value.code == "r-impossible"
    assert str(raised.value) == (
        "At least 196 of 310 people with a protected value (63.2 %) can find no group at r = 3; at "
        "most 5 % may be left out. By q, 300 people with a chance of 60 % or more have "
        '"x", and the table has partners for 104 of them at most. Every r above 1.76 is '
        "impossible: that is proven for any groups that withstand the binary adversary. "
        "Nothing was written. `shoal find TABLE --spec S` tries what would work."
    )
    with pytest.raises(InputError, match="impossible"):
        Art().anonymize(common(r=1.77))


@pytest.mark.parametrize("r", [1.8, 400.0, 1e9])
def test_the_bound_is_the_same_whatever_is_asked(r: float) -> None:
    """For 1e9 it said that every r above 1 is impossible: it was sought in equal steps."""
    with pytest.raises(InputError, match=r"Every r above 1\.76 is impossible"):
        Art().anonymize(common(r=r))


def test_what_the_bound_does_not_hold_for_is_searched() -> None:
    assert Art(max_suppression=1).anonymize(common()).published
    assert Art(max_suppression=0.3).anonymize(common(limit="prior")).published
    assert Art(readers=("joint",), max_suppression=1).anonymize(common()).published
    assert Hiding(common(), Knowledge.of(common())).lost(0.1) == 0
