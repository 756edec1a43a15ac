"""verify judges anew what all rows of a person reveal together, with the record of rows."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.data.spec import Spec
from shoal.release.pair import PAIR
from shoal.release.verification.verify import verify
from tests.forging import mend

STAYS = shoal.datasets.hospital(2000, seed=0).with_columns(patient=pl.Series(range(2000)) % 1500)
SPEC = Spec(
    qi=["sex", "region"],
    sensitive="diagnosis",
    protect=[["HIV", "Schizophrenia"]],
    r=3,
    person="patient",
)
TRUST, CHECK = "what all rows of a person reveal together", "all rows of a person"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("persons")
    release = shoal.anonymize(STAYS, SPEC, seed=1)
    assert release.certificate["person"]["any_row"]["several"] > 0
    release.save(home / "release", private=home / "private")
    return home


def test_rows_are_not_called_people(saved: Path) -> None:
    readme = " ".join((saved / "release" / "README.txt").read_text("utf-8").split())
    assert f"{len(STAYS):,} rows in " in readme


def test_with_the_record_of_rows_nothing_of_it_is_taken_on_trust(saved: Path) -> None:
    told = verify(saved / "release", table=STAYS, private=saved / "private")
    assert told.confirmed
    assert CHECK in [one.name for one in told.checks]
    assert TRUST not in told.on_trust
    without = verify(saved / "release", table=STAYS)
    assert without.confirmed
    assert CHECK not in [one.name for one in without.checks]
    assert TRUST in without.on_trust


@pytest.mark.parametrize(("figure", "other"), [("worst", 0.01), ("several", 1)])
def test_another_figure_is_refused(saved: Path, tmp_path: Path, figure: str, other: float) -> None:
    import shutil

    for name in ("release", "private"):
        shutil.copytree(saved / name, tmp_path / name)
    file = tmp_path / "release" / "certificate.json"
    certificate = json.loads(file.read_text("utf-8"))
    certificate["person"]["any_row"][figure] = other
    file.write_text(json.dumps(certificate, indent=2), "utf-8")
    mend(tmp_path / "release")
    (tmp_path / "private" / PAIR).unlink()
    told = verify(tmp_path / "release", table=STAYS, private=tmp_path / "private")
    assert CHECK in [one.name for one in told.checks if not one.passed]
