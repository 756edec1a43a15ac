"""Forgeries that once passed as CONFIRMED, each with everything else made to fit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, HOSPITAL_SENSITIVE, hospital
from shoal.release.certificate import TRUE_METHODS
from tests.forging import edit, mend, refused
from tests.golden.releases import METHODS

FRAME = hospital(1000, seed=4)
SPEC = shoal.Spec(
    qi=HOSPITAL_QI[:3], sensitive=HOSPITAL_SENSITIVE, protect=[list(HOSPITAL_EVENT)], r=3
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("forgeries")
    for method in ("art", "anatomy", "mask"):
        release = shoal.anonymize(FRAME, SPEC, method=method, seed=1)
        release.save(home / method, private=home / f"{method}-private", alone=True)
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "home"))


def shuffle_values(folder: Path) -> None:
    """Everybody's value goes to somebody in another group."""
    lines = pl.read_csv(folder / "sensitive.csv", infer_schema=False)
    values = lines[HOSPITAL_SENSITIVE].sample(fraction=1, shuffle=True, seed=1)
    lines.with_columns(values).write_csv(folder / "sensitive.csv")


def test_shuffled_values_that_are_said_to_be_changed(home: Path) -> None:
    """It disarmed every check of values."""
    folder = home / "art"
    shuffle_values(folder)
    edit(folder, lambda told: told["rows"].update(values_changed=1000))
    found = shoal.verify(folder)
    assert "the method art changes no values" in [check.detail for check in found.checks]
    edit(folder, lambda told: told["method"].update(name="mask"))
    assert refused(folder, table=FRAME)
    assert refused(folder, private=home / "art-private")


def test_of_a_method_that_changes_values_the_private_folder_tells_how_many(home: Path) -> None:
    folder = home / "mask"
    assert not refused(folder, table=FRAME, private=home / "mask-private")
    shuffle_values(folder)
    edit(folder, lambda told: told["rows"].update(values_changed=1000))
    assert refused(folder, table=FRAME, private=home / "mask-private")


def test_the_methods_that_change_no_values() -> None:
    """Nobody has to keep the list by hand."""
    changed = {}
    for method, parameters in METHODS.items():
        name = method.removesuffix("-generalized").removesuffix("-bound")
        release = shoal.anonymize(FRAME, SPEC, method=name, seed=1, **parameters)
        rows = release.certificate["rows"]
        changed[name] = changed.get(name, 0) + rows["values_changed"]
    assert {name for name, count in changed.items() if not count} == set(TRUE_METHODS)


def test_another_method_under_the_name_of_art(home: Path) -> None:
    """Anatomy's groups are called ART's: the auditor is not convinced, and says so; and where it is
    made to know next to nothing, verify says how little that is."""
    art = json.loads((home / "art" / "certificate.json").read_text("utf-8"))
    folder = home / "anatomy"

    def relabel(told: Any) -> None:
        told["method"] = art["method"]

    edit(folder, relabel)
    told = [one.detail for one in shoal.verify(folder).checks]
    assert "the method answers somebody who is not convinced" in told
    # The same groups, honestly judged against somebody who knows nothing of classes.
    asked = SPEC.with_(min_support=1_000_000)
    shoal.anonymize(FRAME, asked, method="anatomy", seed=1, l=3).save(home / "ignorant")
    edit(home / "ignorant", relabel)
    judged = shoal.verify(home / "ignorant", FRAME)
    assert "min_support 1,000,000" in judged.judged_words()
    assert "the method's name" in judged.on_trust
    expected = shoal.verify(home / "ignorant", FRAME, spec=SPEC)
    assert not expected.confirmed
    assert expected.checks[-1].detail == "min_support is 1000000, not 20"  # 1,000 rows // 50


def test_carriers_first_in_every_group(home: Path) -> None:
    folder = home / "anatomy"
    carries = FRAME[HOSPITAL_SENSITIVE].is_in(list(HOSPITAL_EVENT))
    groups = pl.read_parquet(home / "anatomy-private" / "row_groups.parquet")["gid"]
    text = pl.read_csv(folder / "qi.csv", infer_schema=False)
    people = FRAME.with_columns(gid=groups, well=~carries).sort("gid", "well")
    told = people.select(pl.col(text.columns).cast(pl.String))
    assert not told.equals(text)
    told.write_csv(folder / "qi.csv")
    mend(folder)
    wrong = [one.detail for one in shoal.verify(folder).checks if not one.passed]
    assert wrong == ["people of a group are not in the order of their attributes"]


def test_groups_numbered_by_who_is_in_them(home: Path) -> None:
    """The groups with carriers get the first numbers; the rest of the folder follows."""
    folder = home / "art"
    qi, sensitive = (
        pl.read_csv(folder / f"{name}.csv", infer_schema=False) for name in ("qi", "sensitive")
    )
    label = "|".join(HOSPITAL_EVENT)
    holding = sensitive.filter(pl.col(HOSPITAL_SENSITIVE) == label)["gid"].unique()
    ids = sensitive["gid"].unique().cast(pl.Int64).sort()
    first = np.argsort(~ids.cast(pl.String).is_in(holding.implode()).to_numpy(), kind="stable")
    number = {str(ids[int(old)]): str(new + 1) for new, old in enumerate(first)}
    for name, frame in (("qi", qi), ("sensitive", sensitive)):
        moved = frame.with_columns(pl.col("gid").replace_strict(number))
        moved.sort(pl.col("gid").cast(pl.Int64), maintain_order=True).write_csv(
            folder / f"{name}.csv"
        )
    mend(folder)
    wrong = [one.detail for one in shoal.verify(folder, FRAME).checks if not one.passed]
    assert wrong == ["groups are not numbered by what they publish"]


@pytest.mark.parametrize("damaged", ["[]", "7", "null", '{"format": "shoal-certificate/3"}', "{"])
def test_a_damaged_certificate_gets_a_sentence(home: Path, damaged: str) -> None:
    (home / "art" / "certificate.json").write_text(damaged, "utf-8")
    with pytest.raises(shoal.InputError) as raised:
        shoal.verify(home / "art")
    assert raised.value.code == "certificate-damaged"
    assert raised.value.remedy == "Get the release again."


def test_a_name_that_stands_twice_is_damage(home: Path) -> None:
    """One reader would take the first, another the last."""
    file = home / "art" / "certificate.json"
    text = file.read_text("utf-8")
    file.write_text(text.replace('"r": 3.0,', '"r": 30.0,\n  "r": 3.0,', 1), "utf-8")
    assert refused(home / "art")
