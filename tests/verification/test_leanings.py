"""Leanings that were edited, with everything else made to fit: verify refuses."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.file_names import CERTIFICATE
from shoal.release.leanings import SCHEMA
from tests.forging import mend, refused
from tests.release.test_leanings import people, spec_of

FRAME = people(1)
Edit = Callable[[pl.DataFrame], pl.DataFrame]


@pytest.fixture(scope="module", params=["absolute", "prior"])
def honest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("honest")
    release = shoal.anonymize(FRAME, spec_of(r=5, limit=request.param), seed=5)
    assert release.leanings.height > 10
    release.save(home / "release", private=home / "private")
    assert shoal.verify(home / "release", FRAME, private=home / "private").confirmed
    return home


def factor(change: pl.Expr) -> Edit:
    return lambda told: told.with_columns(factor=change)


LARGER = pl.col("factor")
CHANGES: dict[str, tuple[Edit, bool]] = {
    "one leans far more": (
        factor(pl.when(pl.int_range(pl.len()) == 0).then(60.0).otherwise(LARGER)),
        True,
    ),
    "all the other way": (factor(1 / LARGER), True),
    "nobody leans at all": (factor(pl.lit(1.0)), True),
    "not a number": (factor(pl.lit(float("nan"))), False),
    "below nothing": (factor(-LARGER), False),
    "without end": (factor(pl.lit(float("inf"))), False),
    "an attribute that is not there": (
        lambda told: told.with_columns(attribute=pl.lit("height")),
        False,
    ),
    "another event": (lambda told: told.with_columns(event=pl.lit("none")), False),
    "a line twice": (lambda told: pl.concat([told, told.head(1)]), False),
    "twice the same attribute": (
        lambda told: told.with_columns(attribute_2=pl.col("attribute"), value_2=pl.col("value")),
        False,
    ),
    "a value without its attribute": (
        lambda told: told.with_columns(value_2=pl.lit("f"), attribute_2=pl.lit(None, pl.String)),
        False,
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_leaning_can_be_changed(honest: Path, tmp_path: Path, change: str) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    edit, needs_table = CHANGES[change]
    told = shoal.Release.load(folder).leanings
    edit(told).write_csv(folder / "leanings.csv")
    _say(folder, edit(told))
    mend(folder)
    assert refused(folder, table=FRAME)
    assert needs_table or refused(folder)


def test_leanings_above_the_paper_s_limit_need_no_table(tmp_path: Path) -> None:
    release = shoal.anonymize(FRAME, spec_of(r=5), seed=5)
    release.save(tmp_path / "release")
    folder = tmp_path / "release"
    told = release.leanings.with_columns(factor=LARGER.clip(0.1, 10) ** 2)
    told.write_csv(folder / "leanings.csv")
    mend(folder)
    (fault,) = [one for one in shoal.verify(folder).checks if not one.passed]
    assert fault.name == "leanings"
    assert "people above 1/r" in fault.detail


def test_leanings_that_were_left_out_are_missed(honest: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    told = json.loads((folder / CERTIFICATE).read_text("utf-8"))
    del told["files"]["leanings.csv"]
    (folder / "leanings.csv").unlink()
    (folder / CERTIFICATE).write_text(json.dumps(told), "utf-8")
    mend(folder)
    assert refused(folder)


def _say(folder: Path, told: pl.DataFrame) -> None:
    """Lets the certificate name as many lines."""
    certificate = json.loads((folder / CERTIFICATE).read_text("utf-8"))
    counted = told.group_by("event", maintain_order=True).len()
    certificate["leanings"]["told"] = dict(counted.iter_rows())
    (folder / CERTIFICATE).write_text(json.dumps(certificate), "utf-8")


def test_a_class_cannot_be_counted_wrong_on_purpose(honest: Path, tmp_path: Path) -> None:
    """Factors that are right on average, with one class of people made to carry far less."""
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    told = shoal.Release.load(folder).leanings
    hidden = (pl.col("attribute") == "place") & (pl.col("value") == "south")
    hidden &= pl.col("attribute_2").is_null()
    told.with_columns(factor=pl.when(hidden).then(LARGER * 0.05).otherwise(LARGER)).write_csv(
        folder / "leanings.csv"
    )
    mend(folder)
    assert refused(folder, table=FRAME)


def test_a_table_without_a_line_is_refused(honest: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    none = shoal.Release.load(folder).leanings.head(0)
    none.write_csv(folder / "leanings.csv")
    _say(folder, none)
    mend(folder)
    (fault,) = [one for one in shoal.verify(folder).checks if not one.passed]
    assert fault.detail == "leanings.csv: it has no line"


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    """Each factor is small, and all of somebody's together are nothing at all."""
    names = [f"q{number:02}" for number in range(20)]
    random = np.random.default_rng(1)
    frame = pl.DataFrame({name: random.choice(["x", "y"], 400) for name in names})
    frame = frame.with_columns(s=pl.Series(random.choice(["a", "b", "c"], 400, p=[0.1, 0.5, 0.4])))
    spec = shoal.Spec(qi=names, sensitive="s", protect=["a"], r=2, max_attributes=1, min_support=20)
    shoal.anonymize(frame, spec, seed=1, max_suppression=1).save(tmp_path / "release")
    folder, small = tmp_path / "release", math.exp(-4.9)
    told = [("a", name, text, None, None, small) for name in names for text in "xy"]
    told += [
        ("a", one, text, other, value, small)
        for one, other in combinations(names, 2)
        for text, value in product("xy", "xy")
    ]
    lines = pl.DataFrame(told, schema=SCHEMA, orient="row")
    lines.write_csv(folder / "leanings.csv")
    certificate = json.loads((folder / CERTIFICATE).read_text("utf-8"))
    certificate |= {"leanings": {"told": {"a": lines.height}}}
    certificate["files"]["leanings.csv"] = {"sha256": "", "bytes": 0}
    (folder / CERTIFICATE).write_text(json.dumps(certificate), "utf-8")
    mend(folder)
    assert refused(folder)


def test_lines_about_a_few_people_are_refused(honest: Path, tmp_path: Path) -> None:
    """Factors of a class that no view knows: here, of one that nobody belongs to."""
    folder = Path(shutil.copytree(honest / "release", tmp_path / "release"))
    told = shoal.Release.load(folder).leanings
    more = told.head(1).with_columns(value=pl.lit("nowhere"), factor=pl.lit(1.1))
    forged = pl.concat([told, more])
    forged.write_csv(folder / "leanings.csv")
    _say(folder, forged)
    mend(folder)
    assert refused(folder, table=FRAME)


@pytest.mark.parametrize(
    "views",
    [
        [("age", "place"), ("sex", "place"), ("place",), ("age",)],
        [("place", "age"), ("age", "place"), ("place",)],
        [(), ("place",), ("age", "place")],
    ],
    ids=["another order", "the same twice", "of nothing"],
)
def test_views_may_name_attributes_in_any_order(tmp_path: Path, views: list[Any]) -> None:
    made = shoal.anonymize(FRAME, spec_of(r=5, views=views), seed=5)
    assert "age" in made.leanings["attribute_2"]
    made.save(tmp_path / "release")
    assert shoal.verify(tmp_path / "release", FRAME).confirmed


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_decimal_numbers_keep_their_factors(tmp_path: Path, format: str) -> None:
    """1.10 in the table is 1.1 in the release."""
    dose = (people(1)["age"].cast(pl.Decimal(10, 2)) * Decimal("1.10")).cast(pl.Decimal(10, 2))
    frame = FRAME.with_columns(age=dose)
    made = shoal.anonymize(frame, spec_of(r=5), seed=5)
    assert "age" in made.leanings["attribute"]
    made.save(tmp_path / "release", format=format)
    assert shoal.verify(tmp_path / "release", frame).confirmed
    loaded = shoal.Release.load(tmp_path / "release")
    where = {"age": [Decimal("1.10")], "state": "ill"}
    assert made.count(where) != made.count(where, shares="equal")
    assert loaded.count({"age": 1.1, "state": "ill"}) == pytest.approx(made.count(where))


@pytest.mark.parametrize(
    "edit",
    [
        lambda told: told.with_columns(attribute=pl.lit("height")),
        lambda told: told.drop("value_2"),
        lambda told: told.with_columns(factor=pl.lit(None, pl.Float64)),
    ],
    ids=["unknown attribute", "a column less", "no factors"],
)
def test_what_cannot_be_read_is_said_in_a_sentence(edit: Edit) -> None:
    made = shoal.anonymize(FRAME, spec_of(r=5), seed=5)
    broken = replace(made, leanings=edit(made.leanings))
    with pytest.raises(InputError, match="cannot be read"):
        broken.count({"state": "ill"})
    assert broken.count({"state": "ill"}, shares="equal") > 0
