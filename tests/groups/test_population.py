"""Who is alone in a file, and in the population: against populations that are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.auditing.audit import audit
from shoal.auditing.check_words import lookup_words
from shoal.data.datasets import hospital
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups.lookup import Population
from shoal.methods.anatomy.anatomy import Anatomy
from shoal.methods.mondrian.mondrian import Mondrian

QI = ("sex", "age", "region", "occupation")
EVERYBODY = hospital(40_000, seed=2)


def sampled(seed: int) -> pl.DataFrame:
    """A tenth of them, and a fifth of one region, each with its weight."""
    chance = pl.when(pl.col("region") == EVERYBODY["region"][0]).then(0.2).otherwise(0.1)
    drawn = pl.Series(np.random.default_rng(100 + seed).random(EVERYBODY.height))
    return EVERYBODY.with_columns(W=1 / chance, drawn=drawn).filter(pl.col("drawn") < chance)


def spec(**changes: Any) -> Spec:
    return Spec(**({"qi": QI, "sensitive": "diagnosis", "protect": ["HIV"], "r": 3} | changes))


def published(table: Table) -> np.ndarray[Any, np.dtype[np.int64]]:
    return table.signature_rows


def truth(sample: pl.DataFrame) -> tuple[int, int, int]:
    """Plainly: how many are alone, how many of them in the population, and who matches them."""
    alone = sample.group_by(QI).len().filter(pl.col("len") == 1)
    there = alone.join(EVERYBODY.group_by(QI).agg(people=pl.len()), on=QI)["people"]
    return alone.height, int((there == 1).sum()), int(there.sum())


@pytest.mark.parametrize("counted", [False, True])
def test_a_reference_table_is_counted(tmp_path: Path, counted: bool) -> None:
    file, sample = tmp_path / "census.csv", sampled(0)
    census = EVERYBODY.select(QI)
    (census.group_by(QI).agg(count=pl.len()) if counted else census).write_csv(file)
    table = Table.from_frame(sample, spec(population=file))
    number, unique, matching = truth(sample)
    found = Population.of(table, published(table))
    assert found == Population("reference table", unique, float(f"{number / matching:.2g}"))
    assert 0 < unique < number


def test_recoded_attributes_are_recoded_in_the_reference_table_too(tmp_path: Path) -> None:
    file, sample = tmp_path / "census.parquet", sampled(0)
    EVERYBODY.select(QI).write_parquet(file)
    banded = spec(population=file, recode={"age": {"bands": 10}})
    table = Table.from_frame(sample, banded)
    code = (pl.col("age") // 10).alias("age")
    both = [one.with_columns(code).group_by(QI).len() for one in (sample, EVERYBODY)]
    alone = both[0].filter(pl.col("len") == 1).join(both[1], on=QI)["len_right"]
    found = Population.of(table, published(table))
    assert found is not None
    assert found.unique == (alone == 1).sum()
    assert found.match == float(f"{len(alone) / alone.sum():.2g}")
    for recipe in ({"quantiles": 4}, {"rare": 50}):
        other = Table.from_frame(sample, spec(population=file, recode={"age": recipe}))
        with pytest.raises(InputError, match="by how common its values are"):
            Population.of(other, published(other))


def test_weights_estimate_how_often_a_match_is_right() -> None:
    """Over samples the people who match are estimated without bias: Skinner and Carter (2003)."""
    estimated, true, alone = [], [], []
    for seed in range(12):
        sample = sampled(seed)
        table = Table.from_frame(sample, spec(weight="W"))
        found = Population.of(table, published(table))
        assert found is not None
        assert found.by == "survey weights"
        number, unique, matching = truth(sample)
        estimated.append(found.match)
        true.append(number / matching)
        alone.append((found.unique, unique))
    error = np.std(estimated, ddof=1) / np.sqrt(12)
    assert abs(np.mean(estimated) - np.mean(true)) < 3 * error + 0.01 * np.mean(true)
    about, really = np.mean(alone, axis=0)
    assert 0.5 < about / really < 2.5  # not more than about: where sizes are not geometric


def test_the_audit_says_it_and_who_has_ranges_does_not() -> None:
    table = Table.from_frame(sampled(0), spec(weight="W", qi=["sex", "age", "region"]))
    found = audit(table, Anatomy(l=3).anonymize(table, seed=1))
    assert found.lookup.population == Population.of(table, published(table))
    said = lookup_words(found.judged.lookup)
    assert "alone in the population as well, by the survey weights" in said
    ranged = audit(table, Mondrian(k=5).anonymize(table, seed=1))
    assert ranged.lookup.population is None


def test_nothing_is_said_of_nobody_or_by_nothing() -> None:
    table = Table.from_frame(sampled(0), spec(qi=["sex"], weight="W"))
    assert Population.of(table, published(table)) is None
    bare = Table.from_frame(sampled(0), spec())
    assert Population.of(bare, published(bare)) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one.drop("age"), 'has no QI "age"'),
        (lambda one: one.with_columns(count=pl.lit("x")), "something else than whole numbers"),
        (lambda one: one.with_columns(count=-1), "something else than whole numbers"),
    ],
)
def test_what_is_no_reference_table_is_refused(tmp_path: Path, change: Any, said: str) -> None:
    change(EVERYBODY.select(QI)).write_csv(tmp_path / "census.csv")
    table = Table.from_frame(sampled(0), spec(population=tmp_path / "census.csv"))
    with pytest.raises(InputError, match=said) as refused:
        Population.of(table, published(table))
    assert refused.value.code == "population-column"
