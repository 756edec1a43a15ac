"""A number that the event depends on, with thousands of values: no view knows a single one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attacks.finding import Finding
from shoal.attacks.learner import BANDS
from shoal.data.spec import Spec

ROWS, R = 12_000, 5
SPEC = Spec(qi=("income", "sex"), sensitive="diagnosis", protect=("HIV",), r=R)


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    """The likelier, the larger the income."""
    rng = np.random.default_rng(5)
    place = rng.normal(size=ROWS)
    ill = rng.random(ROWS) < 1 / (1 + np.exp(5.5 - 2 * place))
    others = rng.choice(["flu", "cold", "cough"], ROWS)
    return pl.DataFrame(
        {
            "income": (1_500 * np.exp(place / 2)).astype(int) * 20,
            "sex": rng.choice(["f", "m"], ROWS),
            "diagnosis": np.where(ill, "HIV", others),
        }
    )


def findings(frame: pl.DataFrame, spec: Spec) -> list[Finding]:
    release = shoal.anonymize(frame, spec, seed=1)
    assert release.robust is True
    return list(shoal.attack(release, attackers=["learner", "modeller"]).findings)


def test_where_its_bands_are_unknown_attackers_name_carriers_by_them(frame: pl.DataFrame) -> None:
    assert frame["income"].n_unique() > 100 * BANDS
    found = findings(frame, SPEC.with_(rare_unknown="income"))
    assert min(one.everybody.surely() for one in found) > 2 / R, found


def test_bands_are_known_by_default_and_nobody_is_named_above_what_was_known(
    frame: pl.DataFrame,
) -> None:
    """A model of exact incomes knows far more without any release than it finds in this one."""
    learner, modeller = findings(frame, SPEC)
    assert learner.everybody.surely() <= 1 / R, learner
    assert modeller.baseline is not None
    assert modeller.everybody.surely() < 1.25 / R < modeller.baseline, modeller
