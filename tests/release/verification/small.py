"""A small release with all that a certificate can speak of: to be edited, again and again."""

from __future__ import annotations

from pathlib import Path

import shoal
from shoal.data.datasets import hospital

FRAME = hospital(300, seed=5).select("sex", "region", "age", "diagnosis")
SPEC = shoal.Spec(
    qi=["sex", "region", "age"],
    sensitive="diagnosis",
    protect=[shoal.Event(["HIV", "Schizophrenia"], label="grave"), "Influenza"],
    recode={"age": {"bands": 20}},
    min_support=20,
    r=2,
    limit="prior",
)


def saved(home: Path) -> Path:
    """A folder with the release and its private folder, both confirmed."""
    release = shoal.anonymize(FRAME, SPEC, seed=3, max_suppression=1)
    release.save(home / "release", private=home / "private")
    assert shoal.verify(home / "release", FRAME, private=home / "private").confirmed
    return home
