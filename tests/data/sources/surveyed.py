"""A survey as statistics programs keep it: codes, with labels and missing codes beside them."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

import shoal

HOSPITAL = shoal.datasets.hospital(2_000, seed=0)
REGIONS = dict(enumerate(sorted(HOSPITAL["region"].unique()), start=1))
ILLNESSES = dict(enumerate(sorted(HOSPITAL["diagnosis"].unique())))
REFUSED = 99


def codes(column: str, labels: dict[int, str]) -> pl.Expr:
    return pl.col(column).replace_strict({label: code for code, label in labels.items()})


SURVEY = HOSPITAL.select(
    V1="age",
    V2=codes("sex", {1: "Male", 2: "Female"}),
    V3=pl.when(pl.int_range(pl.len()) % 50 == 0).then(REFUSED).otherwise(codes("region", REGIONS)),
    V4=codes("diagnosis", ILLNESSES),
    V5=pl.lit(date(2020, 2, 29)),
    V6=pl.int_range(pl.len()) / 4,
    V7=pl.col("ward"),
)
TITLES = {
    "V1": "Age in years",
    "V2": "Sex",
    "V3": "Region  of residence\nat the time",
    "V4": "Main diagnosis",
}
LABELS: dict[str, dict[int, str]] = {
    "V2": {1: "Male", 2: "Female"},
    "V3": {**REGIONS, 77: "abroad", REFUSED: "no answer"},
    "V4": ILLNESSES,
    "V1": {120: "120 or older"},
}
SAV: dict[str, Any] = {
    "column_labels": TITLES,
    "variable_value_labels": LABELS,
    "missing_ranges": {"V3": [{"lo": 90, "hi": REFUSED}], "V1": [999], "V7": ["none"]},
    "variable_measure": {
        **dict.fromkeys(("V2", "V3", "V7"), "nominal"),
        **dict.fromkeys(("V1", "V5", "V6"), "scale"),
        "V4": "ordinal",
    },
}


def save(path: Path, frame: pl.DataFrame = SURVEY) -> Path:
    """The survey in the form of the ending."""
    import pyreadstat

    told = {"column_labels": TITLES, "variable_value_labels": LABELS}
    if path.suffix in (".sav", ".zsav"):
        pyreadstat.write_sav(frame, path, compress=path.suffix == ".zsav", **SAV)
    elif path.suffix == ".dta":
        pyreadstat.write_dta(frame, path, **told)
    else:
        pyreadstat.write_xport(frame, path, column_labels=TITLES, file_format_version=8)
    return path
