"""The tables that are measured, their specs, and where real data are looked for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data import datasets
from shoal.data.sources import read_table
from shoal.data.spec import Event, Limit, Spec

ADULT_FILES = ("adult.csv.gz", "adult.csv", "adult.data")
ARX_FILE = "third_party/arx_ldiversity10_local.csv.gz"
DIABETES_FILE = "diabetes130.csv.gz"
DIABETES_QI = ("race", "gender", "age", "admission_type_id", "discharge_disposition_id")
_BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"

METHODS = ("art", "anatomy", "mask", "injector", "t-closeness", "mondrian")


EVERY_VALUE = (1.5, 2.0)
"""The r at which every value of the sensitive column is an event."""
ICD9_CHAPTERS = (
    (1, 139, "infectious"),
    (140, 239, "neoplasms"),
    (240, 279, "endocrine"),
    (280, 289, "blood"),
    (290, 319, "mental"),
    (320, 389, "nervous"),
    (390, 459, "circulatory"),
    (460, 519, "respiratory"),
    (520, 579, "digestive"),
    (580, 629, "genitourinary"),
    (630, 679, "pregnancy"),
    (680, 709, "skin"),
    (710, 739, "musculoskeletal"),
    (740, 759, "congenital"),
    (780, 799, "symptoms"),
    (800, 999, "injury"),
)


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


def adult_spec(
    *, qi: int = 5, min_support: int = 100, r: float = 10.0, limit: Limit = "absolute"
) -> Spec:
    """The paper's event on Adult: the four levels before secondary, as one."""
    return Spec(
        qi=datasets.ADULT_QI[:qi],
        sensitive=datasets.ADULT_SENSITIVE,
        protect=(datasets.ADULT_EVENT,),  # type: ignore[arg-type]
        r=r,
        min_support=min_support,
        limit=limit,
    )


def adult_subject() -> Subject | None:
    """Adult with the paper's five QIs at r = 10."""
    from shoal.data.table.hierarchy import adult_hierarchies

    frame = adult_frame()
    if frame is None:
        return None
    return Subject("Adult", frame, adult_spec(), dict(adult_hierarchies()))


def diabetes_subject() -> Subject | None:
    """Diabetic patients of 130 hospitals at r = 5: the chapter of the primary diagnosis in each
    one's first stay, mental disorders as the event. None where the file is not found."""
    root = data_root()
    if root is None or not (root / DIABETES_FILE).is_file():
        return None
    stays = read_table(root / DIABETES_FILE).sort("encounter_id")
    first = stays.unique("patient_nbr", keep="first", maintain_order=True)
    chapters = {code: icd9_chapter(code) for code in first["diag_1"].unique()}
    frame = first.select(*DIABETES_QI, diagnosis=pl.col("diag_1").replace_strict(chapters))
    spec = Spec(
        qi=DIABETES_QI, sensitive="diagnosis", protect=(Event("mental"),), r=5, min_support=100
    )
    return Subject("diabetes130", frame, spec, {})


def icd9_chapter(code: str) -> str:
    """The chapter of a diagnosis, such as 250.83."""
    number = int(float(code)) if code[:1].isdigit() else 0
    return next((name for low, high, name in ICD9_CHAPTERS if low <= number <= high), "other")


def hospital_spec() -> Spec:
    """What is asked of the made-up hospital, at r = 5."""
    return Spec(
        qi=datasets.HOSPITAL_QI,
        sensitive=datasets.HOSPITAL_SENSITIVE,
        protect=(datasets.HOSPITAL_EVENT,),  # type: ignore[arg-type]
        identifiers=("patient",),
        r=5,
        min_support=100,
    )


def hospital_subject(rows: int) -> Subject:
    """A made-up hospital of that many patients at r = 5."""
    return Subject("hospital", datasets.hospital(rows, seed=0), hospital_spec(), {})
