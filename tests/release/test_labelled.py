"""Releases for SPSS and Stata: read back as they were, verified, and counted in by the syntax of
their README, which PSPP runs; pandas, which shares no code with the writer, reads Stata's files."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from shutil import which

import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.data.spec import Spec
from shoal.release import Release
from shoal.release.labelled import LABELLED, called
from shoal.release.utility.script import Script
from shoal.release.utility.sql import example
from shoal.release.utility.stata_script import stata_script
from tests.data.sources.expect import fails_with
from tests.data.sources.surveyed import ILLNESSES, REGIONS, save
from tests.forging import mend
from tests.release.utility.test_scripts import RELEASES
from tests.release.weighed import SPEC, Weighed, people


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Release:
    events = ["HIV", ["Schizophrenia", "Pregnancy complication"]]
    spec = Spec(qi=["V2", "V3"], sensitive="V4", protect=events, r=3)
    path = save(tmp_path_factory.mktemp("survey") / "survey.sav")
    return shoal.anonymize(path, spec, seed=1, method=Weighed())


def saved(release: Release, folder: Path, format: str) -> Path:
    release.save(folder / "release", format=format)
    return folder / "release"


@pytest.mark.parametrize("format", LABELLED)
@pytest.mark.parametrize("name", RELEASES)
def test_a_release_is_read_back_as_it_was(name: str, format: str, tmp_path: Path) -> None:
    release = RELEASES[name]()
    back = shoal.read(saved(release, tmp_path, format))
    for table in release.frames:
        texts = pl.col(pl.Enum, pl.Categorical).cast(pl.String)
        wanted = release.frames[table].with_columns(texts)
        kinds = {one.name: pl.Int64 for one in wanted if one.dtype.is_integer()}
        assert back.frames[table].cast(kinds).equals(wanted.cast(kinds)), table
    found = shoal.verify(tmp_path / "release")
    assert not [check for check in found.checks if not check.passed and check.name != "seed"]


@pytest.mark.parametrize("format", LABELLED)
def test_numbers_that_values_had_are_kept(surveyed: Release, format: str, tmp_path: Path) -> None:
    folder = saved(surveyed, tmp_path, format)
    import pyreadstat

    read = pyreadstat.read_dta if format == "dta" else pyreadstat.read_sav
    frame, said = read(folder / f"sensitive.{format}", output_format="polars")
    labels = said.variable_value_labels["V4"]
    for code, label in labels.items():
        assert ILLNESSES.get(int(code), label) == label
    assert set(frame["V4"]) == set(labels)
    assert said.column_names_to_labels["V4"] == "Main diagnosis"
    qi, told = read(folder / f"qi.{format}", output_format="polars")
    assert told.variable_value_labels["V3"].items() <= REGIONS.items()
    assert qi["V3"].null_count()  # what was declared missing


def test_pandas_reads_what_stata_is_given(surveyed: Release, tmp_path: Path) -> None:
    release = surveyed
    folder = saved(release, tmp_path, "dta")
    for name in ("qi", "sensitive"):
        theirs = pl.from_pandas(pd.read_stata(folder / f"{name}.dta"))
        ours = release.frames[name]
        texts = {one.name: pl.String for one in ours if not one.dtype.is_numeric()}
        kinds = texts | {one.name: pl.Float64 for one in ours if one.dtype.is_numeric()}
        assert theirs.cast(kinds).equals(ours.cast(kinds))


HAVEN = r"""
suppressPackageStartupMessages(library(haven))
for (name in c("qi", "sensitive")) {
  file <- paste(name, commandArgs(TRUE)[1], sep = ".")
  read <- if (endsWith(file, "sav")) read_sav(file) else read_dta(file)
  for (column in names(read)) {
    values <- read[[column]]
    labels <- attr(values, "labels")
    told <- c(name, column, attr(values, "label"), sum(is.na(values)), sum(values, na.rm = TRUE))
    labelled <- paste(sprintf("%g", labels), names(labels), sep = "=")
    cat(paste(c(told, if (length(labels)) sort(labelled)), collapse = "\t"), "\n", sep = "")
  }
}
"""


def _has_haven() -> bool:
    asked = ["Rscript", "-e", "quit(status = !requireNamespace('haven', quietly = TRUE))"]
    return which("Rscript") is not None and subprocess.run(asked, check=False).returncode == 0


@pytest.mark.parametrize("format", LABELLED)
def test_r_reads_the_same_codes_and_labels(surveyed: Release, format: str, tmp_path: Path) -> None:
    if not _has_haven():
        pytest.skip("needs R and its package haven")
    folder = saved(surveyed, tmp_path, format)
    (tmp_path / "read.R").write_text(HAVEN, encoding="utf-8")
    run = ["Rscript", tmp_path / "read.R", format]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True)
    import pyreadstat

    read = pyreadstat.read_dta if format == "dta" else pyreadstat.read_sav
    expected = []
    for name in ("qi", "sensitive"):
        frame, said = read(folder / f"{name}.{format}", output_format="polars")
        for column in frame:
            title = said.column_names_to_labels[column.name]
            labels = said.variable_value_labels.get(column.name, {})
            told = [name, column.name, *([title] if title else []), column.null_count()]
            labelled = sorted(f"{code:g}={label}" for code, label in labels.items())
            expected.append(([str(one) for one in told], float(column.sum()), labelled))
    found = []
    for line in done.stdout.splitlines():
        told, labelled = line.split("\t"), [one for one in line.split("\t") if "=" in one]
        told = told[: len(told) - len(labelled)]
        found.append((told[:-1], pytest.approx(float(told[-1]), rel=1e-5), sorted(labelled)))
    assert expected == found
    assert [column for (_, column, *_), *_ in expected] == [
        *("gid", "V2", "V3", "weight"),
        *("gid", "V4", "count"),
    ]
    assert sum(bool(labelled) for *_, labelled in expected) == 3


@pytest.mark.skipif(which("pspp") is None, reason="needs PSPP")
@pytest.mark.parametrize("name", [*RELEASES, "surveyed"])
def test_syntax_counts_as_shoal_does(name: str, surveyed: Release, tmp_path: Path) -> None:
    release = surveyed if name == "surveyed" else RELEASES[name]()
    folder = saved(release, tmp_path, "sav")
    text = (folder / "README.txt").read_text("utf-8")
    syntax = re.search(r"^GET FILE.*?STATISTICS=SUM\.$", text, re.DOTALL | re.MULTILINE)
    assert syntax is not None
    run = f"{syntax[0]}\nPRINT OUTFILE='counted.txt' / s_count (F20.9).\nEXECUTE.\n"
    (tmp_path / "run.sps").write_text(run, encoding="utf-8")
    done = subprocess.run(
        ["pspp", tmp_path / "run.sps"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    counted = (folder / "counted.txt").read_text().split()
    script = Script.of(release, "sav")
    sensitive, value, column = example(release)
    of = release.alone(sensitive) if len(release.spec.sensitive_columns) > 1 else release
    where = {column.name: [column.labels[0]]} if column is not None and script.asked[1:] else {}
    expected = of.count({**where, sensitive: value})
    assert sum(map(float, counted)) == pytest.approx(float(expected), abs=1e-6 * release.qi.height)


def test_the_script_for_stata_is_that_for_csv_with_numbers(surveyed: Release) -> None:
    csv = stata_script(Script.of(surveyed), {"qi": "qi.csv", "sensitive": "sensitive.csv"})
    dta = stata_script(Script.of(surveyed, "dta"), {"qi": "qi.dta", "sensitive": "sensitive.dta"})
    assert dta.splitlines()[:2] == ['use "sensitive.dta", clear', "rename count s_count"]
    hiv = next(code for code, label in ILLNESSES.items() if label == "HIV")
    assert f"replace s_case = 1 if V4 == {hiv}" in dta
    assert 'replace s_case = 1 if V4 == "HIV"' in csv
    for text in ("tempfile held", "joinby gid", "generate double s_weight", "display r(sum)"):
        assert [line for line in csv.splitlines() if line.startswith(text)] == [
            line for line in dta.splitlines() if line.startswith(text)
        ]


@pytest.mark.parametrize("format", LABELLED)
def test_files_are_the_same_bytes_and_hold_no_note(
    surveyed: Release, format: str, tmp_path: Path
) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        surveyed.save(folder, format=format)
    file = tmp_path / "a" / f"qi.{format}"
    data = file.read_bytes()
    assert data == (tmp_path / "b" / f"qi.{format}").read_bytes()
    if format == "dta":
        marked = data.replace(b"01 Jan 1970 00:00", b"02 Jan 1970 00:00")
    else:
        marked = data.replace(b"01 Jan 70", b"02 Jan 70")
    file.write_bytes(marked)
    mend(tmp_path / "a")
    for folder, plain in (("a", False), ("b", True)):
        checks = {one.name: one.passed for one in shoal.verify(tmp_path / folder).checks}
        assert checks["written plainly"] is plain


def test_names_that_are_none_there(tmp_path: Path) -> None:
    assert called(["age", "to", "Sex", "SEX", "marital status", "v1", "_x"]) == {
        "age": "age",
        "to": "column1",
        "Sex": "column2",
        "SEX": "column3",
        "marital status": "column4",
        "v1": "column5",
        "_x": "_x",
    }
    frame = people().rename({SPEC.qi[0]: "a name"})
    spec = SPEC.with_(qi=["a name", *SPEC.qi[1:]], bands=())
    folder = saved(shoal.anonymize(frame, spec, method=Weighed()), tmp_path, "sav")
    package = json.loads((folder / "datapackage.json").read_text())
    (field,) = (
        one for one in package["resources"][0]["schema"]["fields"] if one.get("title") == "a name"
    )
    assert re.fullmatch("column[0-9]", field["name"])
    assert "a name" in shoal.read(folder).qi.columns


def test_what_such_files_cannot_hold_is_refused(tmp_path: Path) -> None:
    frame = people().with_columns(big=pl.lit(2**53 + 1))
    spec = SPEC.with_(qi=[*SPEC.qi, "big"])
    release = shoal.anonymize(frame, spec, method=Weighed())
    for format in LABELLED:
        with fails_with("csv-inexact", '"big"'):
            release.save(tmp_path / "release", format=format)
    with fails_with("release-format", "csv, parquet, sav, dta"):
        release.save(tmp_path / "release", format="xlsx")
