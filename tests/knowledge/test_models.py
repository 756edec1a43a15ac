"""Fitted models as views: nobody informs their own figure, and the figures are what they should."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from shoal.data.spec import Event, Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Knowledge, event_chances
from shoal.knowledge.models import Kernel, fit_model, kernel_estimate
from tests.oracle.models import kernel_prior


def people(rows: int = 600, seed: int = 0) -> pl.DataFrame:
    """Sick people are old and live in the north."""
    rng = np.random.default_rng(seed)
    age, region = rng.integers(20, 80, rows), rng.choice(list("nsew"), rows)
    sick = rng.random(rows) < 0.02 + 0.3 * (age > 50) * (region == "n")
    return pl.DataFrame(
        {
            "age": age,
            "region": region,
            "illness": np.where(sick, rng.choice(["a", "b"], rows), rng.choice(["c", "d"], rows)),
        }
    )


def coded(frame: pl.DataFrame, **changes: Any) -> Table:
    given: dict[str, Any] = {"protect": (Event(("a", "b"), label="sick"),), "r": 3, **changes}
    return Table.from_frame(frame, Spec(qi=("age", "region"), sensitive="illness", **given))


class Rote:
    """Says the same of everybody, and keeps a record of whom it was shown and asked about."""

    def __init__(self, log: list[tuple[set[bytes], set[bytes]]]) -> None:
        self.log = log

    def __deepcopy__(self, memo: Any) -> Rote:
        return Rote(self.log)

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
        self.seen = {row.tobytes(): kind for row, kind in zip(X, y, strict=True)}
        self.kinds = len(np.unique(y))

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        asked = {row.tobytes() for row in X}
        self.log.append((set(self.seen), asked))
        return np.full((len(X), self.kinds), 1 / self.kinds)


@pytest.mark.parametrize("model", ["kernel", Kernel(0.1), Kernel({"age": 0.2})])
def test_a_model_is_a_view_with_its_quality(model: Any) -> None:
    table = coded(people())
    known = Knowledge.of(table, model=model)
    view, (fitted,) = known.views[-1], known.models
    assert (view.name, view.fitted) == ("model kernel", fitted)
    assert known.class_views == known.views[:-1]
    assert (fitted.name, fitted.folds, fitted.seed) == ("kernel", 5, 0)
    (quality,) = fitted.quality
    assert quality.event == "sick"
    assert quality.carriers == int(table.event_rows[0])
    assert quality.auc is not None
    assert quality.auc > 0.6
    assert view.distributions.sum(axis=1) == pytest.approx(1)


def test_nobody_informs_the_figure_of_their_own_signature() -> None:
    table, log = coded(people()), []  # type: ignore[var-annotated]
    fit_model(table, Rote(log))
    assert len(log) == 5
    assert all(not seen & asked for seen, asked in log)
    assert len(set().union(*(asked for _, asked in log))) == len(table.signatures)


def test_a_figure_does_not_depend_on_the_value_that_it_is_about() -> None:
    """Whoever is alone with their signature is given the same chance, sick or not."""
    frame = people()
    lonely = pl.DataFrame({"age": [95], "region": ["n"], "illness": ["a"]})
    chances = []
    for illness in ("a", "c"):
        table = coded(pl.concat([frame, lonely.with_columns(illness=pl.lit(illness))]))
        view = fit_model(table, "kernel").views[0]
        chances.append(event_chances(view, table)[view.index[table.row_signature[-1]], 0])
    # Only the person who stands for what no model excludes knows the whole table.
    assert chances[0] == pytest.approx(chances[1], abs=1e-4)


def test_the_kernel_estimate_is_its_slow_twin() -> None:
    frame = people(60, seed=3)
    table = coded(frame)
    fold = np.random.default_rng(1).integers(0, 3, len(table.signatures)).astype(np.int32)
    lines = list(zip(frame["age"], frame["region"], strict=True))
    values = ["sick" if value in "ab" else value for value in frame["illness"]]
    own = table.row_signature
    for folds in (None, fold):
        found = kernel_estimate(table, 0.3, fold=folds)
        rows = None if folds is None else [int(folds[one]) for one in own]
        for j in range(len(lines)):
            slow = kernel_prior(lines, values, 0.3, j, rows)
            assert found[own[j]] == pytest.approx([slow[value] for value in table.values])


def test_missing_numbers_are_like_no_number() -> None:
    frame = people(300).with_columns(age=pl.when(pl.col("age") > 30).then("age"))
    table = coded(frame)
    nobody = table.signatures[:, 0] == table.signatures[:, 0].max()
    assert table.describe(int(np.flatnonzero(nobody)[0]))["age"] == "(missing)"
    found = kernel_estimate(table, {"age": 0.001, "region": 0.001})
    for signature in np.flatnonzero(nobody):
        mine = table.row_signature == signature
        share = (table.row_value[mine] == 0).mean()
        assert found[signature, 0] == pytest.approx(share, abs=0.05)


def test_auc_counts_pairs_and_calibration_tenths() -> None:
    table = coded(people(200, seed=5))
    known = fit_model(table, "kernel")
    (quality,) = known.models[0].quality
    chance = event_chances(known.views[0], table)[known.views[0].index, 0][table.row_signature]
    sick = table.row_event == 0
    wins = [(a > b) + (a == b) / 2 for a, b in product(chance[sick], chance[~sick])]
    assert quality.auc == pytest.approx(np.mean(wins), abs=6e-4)
    assert quality.expected == pytest.approx(chance.sum(), abs=0.06)
    order = np.argsort(chance, kind="stable")
    gaps = np.array_split((chance - sick)[order], 10)
    found = sum(abs(gap.sum()) for gap in gaps) / len(sick)
    assert quality.calibration == pytest.approx(found, abs=2e-2)


def test_quality_of_rare_events_stays_inside() -> None:
    """With few carriers an AUC says where in the ranking they are."""
    known = fit_model(coded(people(200, seed=5)), "kernel")
    (fitted,) = known.models
    assert fitted.quality
    assert fitted.public().quality == ()
    assert "AUC" not in known.source
    assert "AUC" in fit_model(coded(people(4000)), "kernel").source


@pytest.mark.parametrize("name", ["boosting", "logistic"])
def test_models_of_scikit_learn(name: str) -> None:
    pytest.importorskip("sklearn")
    frame = people(2000).with_columns(age=pl.when(pl.col("age") != 40).then("age"))
    several = {"protect": (Event(("a",)), Event(("b",)))}
    for table in (coded(frame), coded(frame, **several)):
        known = fit_model(table, name)
        assert all((one.auc or 0) > 0.6 for one in known.models[0].quality)
        assert np.array_equal(
            known.views[0].distributions, fit_model(table, name).views[0].distributions
        )


def test_an_event_that_a_fold_has_not_seen_is_not_impossible() -> None:
    frame = pl.DataFrame({"age": range(20), "region": ["n"] * 20, "illness": ["a"] + ["c"] * 19})
    log: list[Any] = []
    view = fit_model(coded(frame, protect=(Event(("a",)),)), Rote(log)).views[0]
    assert view.distributions.min() > 0


@pytest.mark.parametrize(
    ("model", "code"),
    [
        ("boostin", "model"),
        (3, "model"),
        (Kernel(0), "bandwidth"),
        (Kernel({"sex": 0.3}), "bandwidth"),
    ],
)
def test_what_is_no_model_is_refused(model: Any, code: str) -> None:
    with pytest.raises(InputError) as raised:
        fit_model(coded(people(300)), model)
    assert raised.value.code == code


def test_a_table_of_one_signature_has_no_model() -> None:
    frame = pl.DataFrame({"age": [1] * 9, "region": ["n"] * 9, "illness": ["a", *"c" * 8]})
    with pytest.raises(InputError) as raised:
        fit_model(coded(frame, protect=(Event(("a",)),)), "kernel")
    assert raised.value.code == "model"
