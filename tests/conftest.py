"""Fixtures for all tests. Real data are never part of the repository: tests skip without."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same cases in every run, however slow the machine: what fails once fails again.
settings.register_profile("shoal", deadline=None, derandomize=True)
settings.load_profile("shoal")

# An assertion in a module of helpers says as much as one in a test.
pytest.register_assert_rewrite(
    "tests.cli.program",
    "tests.methods.injector_oracle",
    "tests.report.marked",
)

_BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def same_seed_in_every_run() -> Iterator[None]:
    """Releases without a seed of their own draw a secret one; what fails once fails again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.api.anonymize._secret_seed", lambda: 0)
        yield


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder of real data sets: $SHOAL_DATA, or shared/data beside the repository."""
    root = Path(os.environ.get("SHOAL_DATA") or _BESIDE_THE_REPOSITORY)
    if not root.is_dir():
        pytest.skip(f"no folder of real data at {root}; set SHOAL_DATA to one")
    return root


@pytest.fixture(scope="session")
def adult_path(data_root: Path) -> Path:
    """UCI's Adult as one CSV file, or as its raw pair."""
    for name in ("adult.csv.gz", "adult.csv", "adult.data"):
        if (data_root / name).is_file():
            return data_root / name
    pytest.skip(f"no Adult data set in {data_root}")
