"""Plausible tables: whose chances they follow, what they keep of a release, and what is found in
them, combined by Rubin's rules."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import shoal
from shoal.arrays import Floats
from shoal.data.datasets import ILLNESSES_QI, illnesses
from shoal.data.spec import OTHER, Spec
from shoal.errors import InputError
from shoal.groups import FormName
from shoal.release import Release
from shoal.release.utility.weighted import chosen
from tests.release.test_recipient import Pooling
from tests.release.utility.test_scripts import Fives
from tests.release.weighed import SPEC, Matched, Weighed, people

DRAWS = 300


def made(form: FormName = "bucketized", seed: int = 1) -> Release:
    return shoal.anonymize(people(seed), SPEC, method=Weighed(form=form), seed=seed)


@pytest.fixture(scope="module")
def release() -> Release:
    return made()


def test_people_are_chosen_as_often_as_their_chance_says() -> None:
    random = np.random.default_rng(1)
    group = np.repeat([3, 5, 9], [4, 1, 5])
    chance = np.array([0.5, 0.25, 0.25, 1.0, 0.0, 0.9, 0.4, 0.4, 0.3, 0.0])
    found = np.array([chosen(group, chance, random) for _ in range(4000)])
    assert (found.astype(int) @ (group[:, None] == [3, 5, 9]) == [2, 0, 2]).all(), (
        "as many as there are cases"
    )
    error = np.sqrt(chance * (1 - chance) / len(found))
    assert (np.abs(found.mean(axis=0) - chance) <= 4 * error).all()


@pytest.mark.parametrize("form", ["bucketized", "generalized"])
def test_people_keep_their_lines_and_groups_their_values(form: FormName) -> None:
    release = made(form)
    one, other = release.draw(2, seed=1)
    attributes = release.qi.select(pl.col(release.spec.qi).cast(pl.String))
    for table in (one, other):
        assert table.select(pl.col(release.spec.qi).cast(pl.String)).equals(attributes)
        assert Counter(zip(release.qi["gid"], table["state"], strict=True)) == {
            (gid, value): count
            for gid, value, count in release.sensitive.select("gid", "state", "count").iter_rows()
        }
    assert not one.equals(other)
    assert release.draw(1, seed=1)[0].equals(one)
    assert not release.draw(1)[0].equals(release.draw(1)[0])


@pytest.mark.parametrize("asked", [{"place": "west"}, {"place": "north", "age": 2}, {"age": 1}])
def test_draws_are_as_far_apart_as_the_standard_error_says(
    release: Release, asked: dict[str, object]
) -> None:
    said = release.count({**asked, "state": "ill"})
    matches = pl.all_horizontal(pl.col(name) == value for name, value in asked.items())
    draws = release.draw(DRAWS, seed=2)
    counts = [one.filter(matches, pl.col("state") == "ill").height for one in draws]
    assert np.mean(counts) == pytest.approx(said, abs=4 * said.standard_error / DRAWS**0.5)
    assert np.std(counts) == pytest.approx(said.standard_error, rel=0.25)


def test_other_is_dealt_as_counts_have_it() -> None:
    frame = people(3).with_columns(pl.when(pl.col("age") < 3).then("state"))
    spec = SPEC.with_(r=1.1)
    release = shoal.anonymize(frame, spec, method=Pooling(), seed=0)
    assert OTHER in release.sensitive["state"]
    (one,) = release.draw(1, seed=1)
    assert OTHER not in one["state"]
    assert one["state"].null_count() > 0
    for value in ("ill", "cold", "flu", "(missing)"):
        said = release.count({"state": value})
        found = one["state"].fill_null("(missing)").eq(value).sum()
        assert found == pytest.approx(said, abs=4 * said.standard_error + 1e-6)


def test_several_columns_are_dealt_together_or_one_at_a_time() -> None:
    names = ("asthma", "diabetes")
    spec = Spec(qi=ILLNESSES_QI, sensitive=names, protect=["asthma=Yes", "diabetes=Yes"], r=1.1)
    frame = illnesses(400, seed=2)
    release = shoal.anonymize(frame.to_pandas(), spec, method=Fives(), seed=0)
    (one,) = release.draw(1, seed=0)
    assert isinstance(one, pd.DataFrame)
    assert list(one.columns) == [*spec.qi, *names]
    apart = shoal.anonymize(frame, spec.with_(publish_apart=True), method=Fives(), seed=0)
    with pytest.raises(InputError, match="permuted apart"):
        apart.draw(1)
    (alone,) = apart.alone("asthma").draw(1, seed=0)
    assert alone["asthma"].value_counts(sort=True).equals(frame["asthma"].value_counts(sort=True))


def test_no_table_cannot_be_drawn(release: Release) -> None:
    with pytest.raises(InputError, match="cannot be drawn"):
        release.draw(0)


def fitted(table: pl.DataFrame) -> tuple[Floats, Floats]:
    """A regression of being ill on place and age, and its sampling variances."""
    x = table.select(
        pl.lit(1.0), pl.col("age"), south=pl.col("place") == "south", west=pl.col("place") == "west"
    ).to_numpy()
    y = table["state"].eq("ill").to_numpy().astype(float)
    inverse = np.linalg.inv(x.T @ x)
    found = inverse @ x.T @ y
    meat = x.T @ (x * ((y - x @ found) ** 2)[:, None])
    return found, np.diag(inverse @ meat @ inverse)


def test_intervals_by_rubins_rules_hold_what_the_table_says() -> None:
    times, inside = 10, []
    reach = stats.t.ppf(0.975, times - 1)
    for seed in range(25):
        frame = people(seed)
        matched = shoal.anonymize(frame, SPEC, method=Matched(ratio=8, cell=40), seed=seed)
        found = np.array([fitted(one)[0] for one in matched.draw(times, seed=seed)])
        error = np.sqrt((1 + 1 / times) * found.var(axis=0, ddof=1))
        inside.append(np.abs(found.mean(axis=0) - fitted(frame)[0]) <= reach * error)
    assert 0.88 <= np.mean(inside) <= 1.0
