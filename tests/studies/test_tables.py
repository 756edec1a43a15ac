"""The paper's tables as printed."""

from __future__ import annotations

import math

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from studies.tables import (
    delta_max_table,
    nationality_distribution,
    raw_data,
    two_diverse_release,
    voter_list,
    worked_example,
)


def test_the_release_is_table_1_without_names() -> None:
    raw, release = raw_data(), two_diverse_release()
    assert raw.shape == (6, 4)
    assert_frame_equal(raw.drop("Name", "Disease"), release.qi_table.drop("GID"))
    assert_frame_equal(raw.select("Disease"), release.sensitive_table.select("Disease"))
    assert release.qi_table["GID"].to_list() == release.sensitive_table["GID"].to_list()
    assert_frame_equal(voter_list().drop("Name"), release.qi_table.drop("GID"))


@pytest.mark.parametrize(
    ("frame", "by"),
    [
        (nationality_distribution(), "Nationality"),
        (worked_example().distribution, "signature"),
    ],
)
def test_distributions_sum_to_one(frame: pl.DataFrame, by: str) -> None:
    assert frame.columns == [by, "value", "probability"]
    sums = frame.group_by(by).agg(pl.col("probability").sum())["probability"]
    assert sums.to_list() == pytest.approx([1.0] * len(sums))


def test_the_worlds_of_the_worked_example_follow_from_its_distribution() -> None:
    example = worked_example()
    chance = {
        (signature, value): probability
        for signature, value, probability in example.distribution.iter_rows()
    }
    signatures = example.group["signature"].to_list()
    multiset = sorted(example.group["value"].to_list())
    worlds = example.worlds.select("t1", "t2", "t3", "t4").rows()
    assert len(set(worlds)) == math.comb(4, 2)
    assert all(sorted(world) == multiset for world in worlds)
    weights = [math.prod(chance[pair] for pair in zip(signatures, w, strict=True)) for w in worlds]
    assert example.worlds["p_w"].to_list() == pytest.approx(weights)
    posterior = example.worlds.filter(pl.col("t1") == "x")["p_w_given_group"].sum()
    assert posterior == pytest.approx(8 / 11)


def test_delta_max_is_theorem_1_to_four_digits() -> None:
    table = delta_max_table()
    assert table.height == 8
    for n, r, f, printed in table.iter_rows():
        assert (n - r) * f / (f * (r - 1) / (1 - f) + n - 1) == pytest.approx(printed, abs=5e-5)
