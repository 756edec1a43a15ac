"""Other models of privacy against pyCANON, and against their definitions where it has another."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pycanon import anonymity

import shoal
from shoal.auditing.models import Models, other_models
from shoal.data.datasets import ADULT_SENSITIVE, adult
from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.groups import Grouping
from tests.oracle import models as oracle

CLOSE = 1e-12


def random_release(seed: int, *, numbers: bool = False) -> tuple[pl.DataFrame, Models]:
    """Up to sixty people in groups of different sizes, one value of four or five each."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(8, 60))
    values = rng.choice(5, rows, p=[0.1, 0.1, 0.2, 0.2, 0.4])
    values[:2] = 0, 1
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "x": values if numbers else [f"v{value}" for value in values],
            "group": rng.integers(0, int(rng.integers(1, 9)), rows),
        }
    )
    return frame, measured(frame)


def measured(frame: pl.DataFrame) -> Models:
    spec = Spec(qi=("age", "sex"), sensitive="x", r=2)
    found = shoal.audit(frame, spec, groups="group", adversary="binary", models=True).models
    assert found is not None
    return found


def lists(frame: pl.DataFrame) -> list[list[str]]:
    return [[str(value) for value in part["x"]] for part in frame.partition_by("group")]


def agrees_with_pycanon(
    released: pd.DataFrame, qi: list[str], sensitive: str, found: Models
) -> None:
    given: tuple[Any, ...] = (released, qi, [sensitive])
    assert found["k-anonymity"]["k"] == anonymity.k_anonymity(released, qi)
    share, k = anonymity.alpha_k_anonymity(*given)
    assert found["(alpha,k)-anonymity"] == {"alpha": pytest.approx(share, abs=CLOSE), "k": k}
    assert found["distinct l-diversity"]["l"] == anonymity.l_diversity(*given)
    l = found["entropy l-diversity"]["l"]
    assert l is not None
    if abs(l - round(l)) > 1e-9:  # pyCANON cuts the fraction off, after rounding errors
        assert int(l) == anonymity.entropy_l_diversity(*given)
    kind = "ordered" if pd.api.types.is_numeric_dtype(released[sensitive]) else "equal"
    t = anonymity.t_closeness(*given)
    assert found[f"t-closeness, {kind} distance"]["t"] == pytest.approx(t, abs=CLOSE)
    beta = anonymity.basic_beta_likeness(*given)
    assert found["basic beta-likeness"]["beta"] == pytest.approx(beta, abs=1e-9)
    delta = anonymity.delta_disclosure(*given)
    assert found["delta-disclosure"]["delta"] == pytest.approx(delta, abs=1e-9)


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_pycanon_agrees(seed: int, numbers: bool) -> None:
    frame, found = random_release(seed, numbers=numbers)
    # Of one column pyCANON groups in a way that pandas warns of.
    released = frame.select("group", "x", same=pl.lit(0)).to_pandas()
    agrees_with_pycanon(released, ["group", "same"], "x", found)


@pytest.mark.parametrize("seed", range(25))
def test_definitions_hold_at_the_threshold_and_not_below(seed: int) -> None:
    """Where pyCANON means something else: it sorts the counts of recursive diversity upwards, cuts
    off an entropy's fraction, and gives enhanced likeness a figure where no beta will do."""
    frame, found = random_release(seed)
    groups = lists(frame)
    c, l = found["recursive (c,l)-diversity"].values()
    assert c is not None
    assert isinstance(l, int)
    assert oracle.recursive_holds(groups, c * (1 + 1e-9), l)
    assert not oracle.recursive_holds(groups, c * (1 - 1e-9), l)
    entropy = min(oracle.entropy(group) for group in groups)
    assert found["entropy l-diversity"]["l"] == pytest.approx(math.exp(entropy))
    beta = found["enhanced beta-likeness"]["beta"]
    assert oracle.enhanced_holds(groups, math.inf) == (beta is not None)
    if beta is not None:
        assert oracle.enhanced_holds(groups, beta)
        assert beta == 0 or not oracle.enhanced_holds(groups, beta * (1 - 1e-9))


@pytest.mark.parametrize("seed", range(10))
def test_beliefs_change_as_the_paper_says(seed: int) -> None:
    frame, found = random_release(seed)
    people = list(zip(frame["age"], frame["sex"], strict=True))
    values = frame["x"].to_list()
    priors = [oracle.kernel_prior(people, values, 0.3, j) for j in range(len(people))]
    groups = [
        [j for j, own in enumerate(frame["group"]) if own == group]
        for group in sorted(set(frame["group"]))
    ]
    assert found["(B,t)-privacy"]["t"] == pytest.approx(
        oracle.largest_change(priors, values, groups), abs=1e-9
    )


def test_copies_and_pooled_values_count_as_published() -> None:
    frame = pl.DataFrame({"q": list("aabbcc"), "x": ["v", "w", "w", "u", "u", "w"]})
    table = Table.from_frame(frame, Spec(qi=("q",), sensitive="x", protect=(Event(("v",)),), r=2))
    lines = np.array([[0, 0, 1], [0, 0, 2], [1, 1, 2], [1, 1, 0], [1, 2, 0], [1, 2, 2]], np.int32)
    apart = Grouping.of_lines(table, *lines.T.copy(), np.ones(6, np.int64))
    pooled = Grouping.of_lines(
        table, *lines.T.copy(), np.ones(6, np.int64), pooled=np.array([False, True])
    )
    assert other_models(table, apart)["distinct l-diversity"] == {"l": 2}
    assert other_models(table, pooled)["distinct l-diversity"] == {"l": 1}
    twice = Grouping.of_lines(
        table,
        np.zeros(2, np.int32),
        np.array([0, 0], np.int32),
        np.array([1, 2], np.int32),
        np.ones(2, np.int64),
        copies=np.array([2], np.int64),
    )
    found = other_models(table, twice)
    assert found["k-anonymity"] == {"k": 2}
    assert found["t-closeness, equal distance"] == {"t": 0.0}
    assert not found.remarks


def test_people_published_alone_are_said_to_be_why_k_is_one() -> None:
    frame, _ = random_release(0)
    alone = frame.with_columns(group=pl.int_range(frame.height))
    found = measured(alone)
    assert found["k-anonymity"] == {"k": 1}
    assert len(found.remarks) == 1
    assert found.remarks[0].startswith(
        f"{frame.height} people are each published in a group of one"
    )
    plain = shoal.audit(
        alone, Spec(qi=("age",), sensitive="x", r=2), groups="group", adversary="binary"
    )
    assert plain.models is None
    assert "models" not in plain.to_dict()


@pytest.mark.data
@pytest.mark.parametrize("sensitive", [ADULT_SENSITIVE, "education-num"])
def test_pycanon_agrees_on_adult(adult_path: Path, sensitive: str) -> None:
    qi = ["sex", "race", "marital-status"]
    frame = adult(adult_path).with_columns(group=pl.concat_str(qi))
    found = shoal.audit(
        frame,
        Spec(qi=qi, sensitive=sensitive, r=2),
        groups="group",
        adversary="binary",
        models=True,
    ).models
    assert found is not None
    agrees_with_pycanon(frame.select([*qi, sensitive]).to_pandas(), qi, sensitive, found)
