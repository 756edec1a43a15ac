"""The same bytes on any number of threads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import shoal
from shoal.data.datasets import HOSPITAL_EVENT, hospital


def made(folder: Path, threads: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Every file of a release and of its private folder, and what attackers achieve."""
    monkeypatch.setattr(os, "cpu_count", lambda: threads)
    folder.mkdir()
    spec = shoal.Spec(
        qi=["age", "sex", "region"], sensitive="diagnosis", protect=[HOSPITAL_EVENT], r=3
    )
    release = shoal.anonymize(hospital(2_000, seed=3), spec, seed=5)
    release.save(folder / "release", private=folder / "private")
    found = shoal.attack(release).to_dict()
    for one in (found, *found["attackers"]):
        del one["seconds"]
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.name: file.read_bytes() for file in files} | {"attack": found}


def test_threads_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone, crowd = (made(tmp_path / str(n), n, monkeypatch) for n in (1, 4))
    assert alone == crowd
