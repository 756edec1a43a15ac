"""The tables that are measured, their specs, and where real data are looked for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal import datasets
from shoal.spec import Spec

ADULT_FILES = ("adult.csv.gz", "adult.csv", "adult.data")
ARX_FILE = "third_party/arx_ldiversity10_local.csv.gz"
_BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"

METHODS = ("art", "anatomy", "mask", "injector", "t-closeness", "mondrian")

# QIs, min_support, r: the settings whose suppression is bounded in the project's first aims.
ART_SETTINGS = (
    (5, 100, 2.0, 0.0),
    (5, 100, 5.0, 0.005),
    (5, 30, 5.0, 0.01),
    (5, 300, 10.0, 0.01),
    (5, 100, 10.0, 0.03),
    (8, 300, 2.0, 0.005),
)
POOLED_AIM = 0.15
EVERY_VALUE = (2.0, 3.0)
"""The r at which every value of the sensitive column is an event."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A table to measure on."""

    name: str
    frame: pl.DataFrame
    spec: Spec
    hierarchies: dict[str, Any]


def data_root() -> Path | None:
    """The folder of real data: $SHOAL_DATA, or shared/data beside the repository."""
    root = Path(os.environ.get("SHOAL_DATA") or _BESIDE_THE_REPOSITORY)
    return root if root.is_dir() else None


def adult_frame() -> pl.DataFrame | None:
    """Adult, or None where it is not found."""
    root = data_root()
    if root is None:
        return None
    for name in ADULT_FILES:
        if (root / name).is_file():
            return datasets.adult(root / name)
    return None


def adult_spec(*, qi: int = 5, min_support: int = 100, r: float = 10.0) -> Spec:
    """The paper's event on Adult: the four levels before secondary, as one."""
    return Spec(
        qi=datasets.ADULT_QI[:qi],
        sensitive=datasets.ADULT_SENSITIVE,
        protect=(datasets.ADULT_EVENT,),  # type: ignore[arg-type]
        r=r,
        min_support=min_support,
    )


def adult_subject() -> Subject | None:
    """Adult with the paper's five QIs at r = 10."""
    from shoal.table.hierarchy import adult_hierarchies

    frame = adult_frame()
    if frame is None:
        return None
    return Subject("Adult", frame, adult_spec(), dict(adult_hierarchies()))


def hospital_subject(rows: int) -> Subject:
    """A made-up hospital of that many patients at r = 5."""
    spec = Spec(
        qi=datasets.HOSPITAL_QI,
        sensitive=datasets.HOSPITAL_SENSITIVE,
        protect=(datasets.HOSPITAL_EVENT,),  # type: ignore[arg-type]
        identifiers=("patient",),
        r=5,
        min_support=100,
    )
    return Subject("hospital", datasets.hospital(rows, seed=0), spec, {})
