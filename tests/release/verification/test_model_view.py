"""A model's view from the search to the certificate, and from the private folder to verify."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.knowledge.models import Kernel
from shoal.release import Release
from shoal.release.facts import release_facts
from shoal.report.page import Edition, render

MODEL = Kernel(0.15)
EDITIONS: tuple[Edition, ...] = ("internal", "public")


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    """Two attributes that tell little by themselves and much together."""
    rng = np.random.default_rng(0)
    rows = 3000
    a, b = rng.integers(0, 30, rows), rng.integers(0, 30, rows)
    sick = rng.random(rows) < 0.01 + 0.35 * ((a // 15) != (b // 15)) * (abs(a - b) > 20)
    return pl.DataFrame({"a": a, "b": b, "x": np.where(sick, "sick", rng.choice(["u", "v"], rows))})


SPEC = shoal.Spec(
    qi=["a", "b"], sensitive="x", protect=["sick"], r=4, min_support=50, limit="prior"
)


@pytest.fixture(scope="module")
def release(frame: pl.DataFrame) -> Release:
    return shoal.anonymize(frame, SPEC, model=MODEL, max_suppression=0.2)


@pytest.fixture(scope="module")
def saved(release: Release, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("saved")
    release.save(folder / "release", private=folder / "private")
    return folder / "release", folder / "private"


def test_the_model_finds_breaches_where_groups_were_made_without_it(
    frame: pl.DataFrame, release: Release
) -> None:
    plain = shoal.anonymize(frame, SPEC, max_suppression=0.2)
    assert plain.robust
    assert "models" not in plain.certificate["knowledge"]
    judged = shoal.audit(frame, SPEC, groups=plain.row_groups, model=MODEL)
    assert judged.robust is False
    assert [name for name, view in judged.by_view.items() if view.problematic] == ["model kernel"]
    assert release.audit is not None
    own = {name: one.robust for name, one in release.audit.by_adversary.items()}
    assert release.robust
    assert own.pop("all-views") is not None  # stands beside the others' verdict
    assert own == {"joint": True, "binary": True}
    assert release.audit.by_view["model kernel"].problematic == 0


def test_the_certificate_names_model_folds_seed_and_quality(release: Release) -> None:
    (stated,) = release.certificate["knowledge"]["models"]
    assert (stated["name"], stated["view"], stated["folds"], stated["seed"]) == (
        "kernel",
        "model kernel",
        5,
        0,
    )
    (quality,) = stated["quality"]
    assert quality["auc"] > 0.7
    assert len(stated["sha256"]) == 64
    assert release.certificate["knowledge"]["views"][-1] == ["model kernel"]
    assert release.audit is not None
    assert release.audit.to_dict()["fitted"][0]["quality"][0]["auc"] == quality["auc"]


def test_the_hash_tells_nothing_to_whoever_can_fit_the_model_again(
    frame: pl.DataFrame, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.api.anonymize._secret_seed", lambda: 1)
    again = shoal.anonymize(frame, SPEC, model=MODEL, max_suppression=0.2)
    (mine,), (other,) = (one.certificate["knowledge"]["models"] for one in (release, again))
    assert mine["sha256"] != other["sha256"]
    assert {**mine, "sha256": ""} == {**other, "sha256": ""}


def test_verify_judges_with_what_the_private_folder_keeps(
    frame: pl.DataFrame, saved: tuple[Path, Path]
) -> None:
    found = shoal.verify(saved[0], frame, private=saved[1])
    assert found.confirmed, found
    assert "model kernel" in {check.name for check in found.checks}


def test_verify_without_the_private_folder_says_what_was_not_judged(
    frame: pl.DataFrame, saved: tuple[Path, Path]
) -> None:
    found = shoal.verify(saved[0], frame)
    assert found.confirmed, found
    (check,) = [check for check in found.checks if check.name == "model kernel"]
    assert check.detail.startswith("not judged")


def edited(saved: tuple[Path, Path], to: Path, **changes: Any) -> Path:
    """A copy of the release whose certificate says something else of the joint adversary."""
    folder = to / "edited"
    folder.mkdir()
    for file in saved[0].iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    certificate = json.loads((folder / "certificate.json").read_text())
    for one in (*certificate["audit"]["adversaries"], *certificate["events"], certificate["audit"]):
        one.update({key: value for key, value in changes.items() if key in one})
    (folder / "certificate.json").write_text(json.dumps(certificate))
    return folder


def test_verify_without_the_model_still_refutes_what_is_too_good(
    frame: pl.DataFrame, saved: tuple[Path, Path], tmp_path: Path
) -> None:
    found = shoal.verify(edited(saved, tmp_path, worst_posterior=0.01), frame)
    wrong = {check.name for check in found.checks if not check.passed}
    assert "worst posterior of the joint adversary" in wrong


@pytest.mark.parametrize("fault", ["missing", "changed"])
def test_verify_refuses_distributions_that_are_not_those_of_the_run(
    frame: pl.DataFrame, saved: tuple[Path, Path], tmp_path: Path, fault: str
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    for file in saved[1].iterdir():
        (private / file.name).write_bytes(file.read_bytes())
    if fault == "missing":
        (private / "model-1.parquet").unlink()
    else:
        changed = pl.read_parquet(private / "model-1.parquet") * 0.5
        changed.write_parquet(private / "model-1.parquet")
    found = shoal.verify(saved[0], frame, private=private)
    (check,) = [check for check in found.checks if not check.passed]
    assert check.name == "model kernel"
    assert ("missing" if fault == "missing" else "SHA-256") in check.detail


@pytest.mark.parametrize("forged", ["quality", "constant", "removed"])
def test_what_is_said_of_a_model_is_measured_again(
    frame: pl.DataFrame, saved: tuple[Path, Path], tmp_path: Path, forged: str
) -> None:
    folder, private = edited(saved, tmp_path), tmp_path / "private"
    private.mkdir()
    for file in saved[1].iterdir():
        (private / file.name).write_bytes(file.read_bytes())
    certificate = json.loads((folder / "certificate.json").read_text())
    (described,) = certificate["knowledge"]["models"]
    if forged == "quality":
        described["quality"][0]["auc"] = 0.99
    elif forged == "constant":
        model = private / "model-1.parquet"
        pl.read_parquet(model).with_columns(pl.all().mean()).write_parquet(model)
        described["sha256"] = hashlib.sha256(model.read_bytes()).hexdigest()
    else:
        del certificate["knowledge"]["models"]
        certificate["knowledge"]["views"].pop()
    (folder / "certificate.json").write_text(json.dumps(certificate))
    found = shoal.verify(folder, frame, private=private)
    wrong = {check.name for check in found.checks if not check.passed}
    assert ("models" if forged == "removed" else "model kernel") in wrong


def test_texts_speak_of_the_model(saved: tuple[Path, Path], release: Release) -> None:
    readme = " ".join((saved[0] / "README.txt").read_text().split())
    assert "what a model of all published attributes" in readme
    facts = release_facts(release, release.made.table)
    for edition in EDITIONS:
        page = " ".join(render(facts, edition=edition).split())
        assert "what a model of all these attributes says of each person (kernel" in page
