"""Reads UCI's Adult data set (Becker & Kohavi 1996), the table of the paper's experiments.

The data are not part of shoal. Raw UCI files are cleaned on the way in: spaces and the
test labels' trailing "." go, and so do rows with a "?"; adult.data comes before adult.test.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import polars.selectors as cs

from shoal.errors import InputError

ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
)
ADULT_QI = (
    "age",
    "workclass",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
    "salary-class",
)
ADULT_SENSITIVE = "education"
ADULT_EVENT = ("Preschool", "1st-4th", "5th-6th", "7th-8th")
ADULT_ROWS = 45_222

_RAW = ("adult.data", "adult.test")
_TABLES = ("adult.csv.gz", "adult.csv")
_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_REMEDY = (
    'Give the two files adult.data and adult.test of UCI\'s "Adult" data set '
    "(Becker & Kohavi 1996), or a CSV of it with its 15 columns named."
)


def adult(path: str | Path) -> pl.DataFrame:
    """The 45,222 complete rows of Adult, 15 columns, numbers as integers.

    `path` is a folder with adult.data and adult.test (or adult.csv.gz, or adult.csv),
    one of those two raw files with the other beside it, or a CSV file with named columns.
    """
    files = _find(Path(path))
    try:
        rows = pl.concat([_read(file) for file in files])
        table = _clean(rows)
    except pl.exceptions.PolarsError as error:
        problem = f'"{path}" could not be read as Adult: {error}.'
        raise InputError("adult", problem, _REMEDY) from error
    if table.height != ADULT_ROWS:
        problem = f'"{path}" holds {table.height:,} complete rows, Adult has {ADULT_ROWS:,}.'
        raise InputError("adult", problem, _REMEDY)
    return table


def _find(path: Path) -> list[Path]:
    """The raw pair in reading order, or the one CSV file."""
    folder = path if path.is_dir() else path.parent
    raw = [folder / name for name in _RAW]
    choices = [raw if path.name in _RAW else [path]]
    if path.is_dir():
        choices = [raw, *([folder / name] for name in _TABLES)]
    for files in choices:
        if all(file.is_file() for file in files):
            return files
    names = " and ".join(f'"{file}"' for file in choices[0] if not file.is_file())
    raise InputError("adult", f"Adult was not found: there is no {names}.", _REMEDY)


def _read(file: Path) -> pl.DataFrame:
    """One file as text, under Adult's column names."""
    if file.name in _RAW:
        return pl.read_csv(
            file,
            has_header=False,
            infer_schema=False,
            comment_prefix="|",
            schema=dict.fromkeys(ADULT_COLUMNS, pl.String),
        )
    table = pl.read_csv(file, infer_schema=False)
    missing = [name for name in ADULT_COLUMNS if name not in table.columns]
    if missing:
        names = ", ".join(f'"{name}"' for name in missing)
        raise InputError("adult", f'"{file}" lacks the columns {names}.', _REMEDY)
    return table.select(ADULT_COLUMNS)


def _clean(rows: pl.DataFrame) -> pl.DataFrame:
    """Strips, drops incomplete rows, and turns numbers into integers."""
    return (
        rows.with_columns(cs.string().str.strip_chars())
        .filter(pl.all_horizontal(pl.all().is_not_null() & pl.all().is_in(["", "?"]).not_()))
        .with_columns(pl.col("salary-class").str.strip_suffix("."), pl.col(_NUMBERS).cast(pl.Int64))
    )
