"""Files of SPSS, Stata and SAS: codes as they are, what they say of them, and one sentence for
whatever is no such file."""

from __future__ import annotations

import random
import subprocess
import sys
import warnings
from pathlib import Path
from shutil import which

import pandas as pd
import polars as pl
import pyreadstat
import pytest

import shoal
from shoal.api.released import align
from shoal.data.sources import read_codebook, read_table
from shoal.data.spec import InputWarning, Recipe, Spec, Variable
from shoal.errors import InputError
from shoal.memory import memory_limit
from tests.data.sources.expect import fails_with
from tests.data.sources.surveyed import ILLNESSES, LABELS, REFUSED, REGIONS, SURVEY, TITLES, save

ENDINGS = [".sav", ".zsav", ".dta", ".xpt"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_codes_are_read_as_they_are(tmp_path: Path, ending: str) -> None:
    path = save(tmp_path / f"survey{ending}")
    assert read_table(path).equals(SURVEY.with_columns(pl.col("V2", "V3", "V4").cast(pl.Int64)))
    assert read_table(path, columns=["V4", "V1"]).equals(read_table(path).select("V4", "V1"))
    with fails_with("column-missing", '"V9" does not exist'):
        read_table(path, columns=["V9"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_codebook_says_what_a_file_says(tmp_path: Path, ending: str) -> None:
    told = read_codebook(save(tmp_path / f"survey{ending}"))
    assert list(told) == SURVEY.columns
    assert told["V3"].title == "Region of residence at the time"
    if ending == ".xpt":  # labels of values are in no file of SAS
        assert told["V2"] == Variable(title="Sex")
        return
    assert dict(told["V4"].labels) == {str(code): label for code, label in ILLNESSES.items()}
    assert told["V1"].labels == ()  # most ages have none
    in_spss = ending != ".dta"
    regions = {str(code): label for code, label in REGIONS.items()} | {"77": "abroad"}
    regions |= {} if in_spss else {str(REFUSED): "no answer"}
    assert dict(told["V3"].labels) == regions
    assert told["V3"].missing == ((str(REFUSED),) if in_spss else ())
    assert told["V1"].missing == ()  # 999 does not occur
    assert told["V4"].measure == ("ordinal" if in_spss else "unknown")


def test_labels_that_codes_share_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "shared.sav"
    labels = {"a": {1: "Other", 2: "Other", 3: "Own"}}
    pyreadstat.write_sav(pl.DataFrame({"a": [1, 2, 3]}), path, variable_value_labels=labels)
    told = read_codebook(path)["a"].labels
    assert told == (("1", "Other (1)"), ("2", "Other (2)"), ("3", "Own"))


def test_texts_have_labels_and_missing_codes_too(tmp_path: Path) -> None:
    path = tmp_path / "texts.sav"
    frame = pl.DataFrame({"a": ["x", "y", "n/a", None], "b": [1.5, 2.0, 0.1, None]})
    pyreadstat.write_sav(
        frame,
        path,
        variable_value_labels={"a": {"x": "Ex", "y": "Why"}, "b": {1.5: "one", 2: "two", 0.1: "z"}},
        missing_ranges={"a": ["n/a"]},
    )
    told = read_codebook(path)
    assert told["a"] == Variable(labels=(("x", "Ex"), ("y", "Why")), missing=("n/a",))
    assert told["b"].labels == (("0.1", "z"), ("1.5", "one"), ("2", "two"))


def test_of_other_sources_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a\n1\n")
    assert read_codebook(path) == read_codebook(SURVEY) == {}


def test_several_files_are_one_table(tmp_path: Path) -> None:
    save(tmp_path / "part-1.sav", SURVEY.head(1_000))
    save(tmp_path / "part-2.sav", SURVEY.tail(1_000))
    pattern = str(tmp_path / "part-*.sav")
    assert read_table(pattern).equals(read_table(save(tmp_path / "survey.sav")))
    assert read_codebook(pattern) == read_codebook(tmp_path / "survey.sav")


# --- What a spec takes of it -------------------------------------------------------------


def described(path: Path, **asked: object) -> Spec:
    given = {"qi": ["V1", "V2", "V3"], "sensitive": "V4", "r": 5, **asked}
    return Spec.from_mapping(given).described(read_codebook(path))


def test_a_spec_takes_what_it_does_not_say_itself(tmp_path: Path) -> None:
    path = save(tmp_path / "survey.sav")
    spec = described(path, titles={"V1": "Age, at the interview"})
    recipes, titles = dict(spec.recode), dict(spec.titles)
    assert recipes["V3"].missing == (str(REFUSED),)
    assert dict(recipes["V2"].labels) == {"1": "Male", "2": "Female"}
    assert "V1" not in recipes
    assert titles["V1"] == "Age, at the interview"
    assert titles["V4"] == TITLES["V4"]
    assert Spec.from_toml(_saved(spec, tmp_path)) == spec


def _saved(spec: Spec, folder: Path) -> Path:
    path = folder / "spec.toml"
    path.write_text(spec.to_toml(), encoding="utf-8")
    return path


def test_a_recipe_of_ones_own_stands_and_is_asked_about_missing_codes(tmp_path: Path) -> None:
    path = save(tmp_path / "survey.sav")
    with pytest.warns(InputWarning, match='that 99 in "V3" means missing'):
        spec = described(path, recode={"V3": {"nominal": True}})
    assert dict(spec.recode)["V3"] == Recipe(nominal=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        described(path, recode={"V3": {"missing": [99]}})


def test_events_are_named_by_code_or_by_label(tmp_path: Path) -> None:
    path = save(tmp_path / "survey.sav")
    hiv = next(str(code) for code, label in ILLNESSES.items() if label == "HIV")
    for given in (["HIV"], [hiv], [int(hiv)]):
        (event,) = described(path, protect=given).protect or ()
        assert (event.values, event.label) == (("HIV",), "HIV")
    (event,) = described(path, protect=[[hiv, "Asthma"]]).protect or ()
    assert (event.values, event.label) == (("HIV", "Asthma"), "HIV|Asthma")
    (event,) = described(path, protect=[f"not {hiv}"]).protect or ()
    assert event.values == ("not HIV",)
    two = described(path, sensitive=["V4", "V2"], qi=["V1"], protect=[f"V4={hiv}", "V2=2"])
    assert [event.values for event in two.protect or ()] == [("HIV",), ("Female",)]


def test_the_table_that_is_published_shows_labels(tmp_path: Path) -> None:
    path = save(tmp_path / "survey.sav")
    spec = Spec(qi=["V2", "V3"], sensitive="V4", protect=["HIV"], r=5)
    by_path = shoal.anonymize(path, spec, seed=1)
    assert by_path.robust
    shown = SURVEY.with_columns(
        pl.col(name).replace_strict(labels, default=None) for name, labels in LABELS.items()
    ).with_columns(V3=pl.when(pl.col("V3") != "no answer").then("V3"))
    by_frame = shoal.anonymize(shown, spec, seed=1)
    assert by_path.qi.equals(by_frame.qi)
    assert by_path.sensitive.equals(by_frame.sensitive)
    by_path.save(tmp_path / "release")
    found = shoal.verify(tmp_path / "release", path)
    assert found.confirmed, found.checks
    words = (tmp_path / "release" / "README.txt").read_text()
    assert "V2: Sex. codes: 1 = Male; 2 = Female" in words
    package = (tmp_path / "release" / "datapackage.json").read_text()
    assert '"description": "Main diagnosis; recoded' in package


def test_what_another_tool_made_of_the_codes_is_the_same_as_of_labels(tmp_path: Path) -> None:
    path = save(tmp_path / "survey.sav")
    spec = described(path, qi=["V2", "V3"], protect=["HIV"])
    as_codes = SURVEY.with_columns(V3=pl.lit("*")).select("V2", "V3", "V4")
    as_labels = as_codes.with_columns(
        pl.col(name).replace_strict(LABELS[name]) for name in ("V2", "V4")
    )
    by_code, by_label = (align(read_table(path), one, spec) for one in (as_codes, as_labels))
    assert by_code.rows is not None
    assert by_code.rows.tolist() == by_label.rows.tolist()
    assert len(set(by_code.rows.tolist())) == 2
    assert "HIV" in by_code.table.values


# --- Hostile -----------------------------------------------------------------------------


def test_what_needs_too_much_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": pl.zeros(2_000_000, eager=True)})
    path = tmp_path / "zeros.zsav"
    pyreadstat.write_sav(frame, path, compress=True)
    assert path.stat().st_size < 200_000
    with memory_limit("50MB"), fails_with("memory", "zeros.zsav"):
        read_table(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_damaged_file_is_said_to_be_one(tmp_path: Path, ending: str) -> None:
    whole = save(tmp_path / f"whole{ending}", SURVEY.head(40)).read_bytes()
    path = tmp_path / f"broken{ending}"
    for data in (b"", b"a,b\n1,2\n", whole[: len(whole) // 2 | 1], b"\0" * 4096):
        path.write_bytes(data)
        with pytest.raises(InputError) as raised:
            read_table(path)
        assert raised.value.code in ("file-empty", "file-damaged", "encoding")
        assert str(path) in str(raised.value)


def test_no_damage_ends_the_program(tmp_path: Path) -> None:
    """In a program of its own, which a library in C could end."""
    files = [str(save(tmp_path / f"survey{ending}", SURVEY.head(25))) for ending in ENDINGS]
    done = subprocess.run(
        [sys.executable, "-c", DAMAGE, *files], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 50


DAMAGE = f"""
import random, sys
from pathlib import Path
from shoal.data.sources import read_codebook, read_table
from shoal.errors import InputError
refused = 0
for name in sys.argv[1:]:
    whole, draw = Path(name).read_bytes(), random.Random({random.Random(7).random()})
    for _ in range(100):
        data = bytearray(whole)
        for _ in range(draw.choice([1, 4, 40])):
            data[draw.randrange(len(data))] = draw.randrange(256)
        Path(name).write_bytes(data)
        try:
            read_table(name)
            read_codebook(name)
        except InputError:
            refused += 1
print(refused)
"""


def test_an_encoding_is_asked_for_by_the_options_name(tmp_path: Path) -> None:
    path = tmp_path / "old.dta"
    frame = pl.DataFrame({"ort": ["Köln", "Bern"]})
    pyreadstat.write_dta(frame, path, version=10)
    data = path.read_bytes().replace("Köln".encode(), b"K\xf6ln\0")
    path.write_bytes(data)
    assert read_table(path, encoding="cp1252")["ort"].to_list() == ["Köln", "Bern"]
    with fails_with("encoding", "--encoding"):
        read_table(path, encoding="utf-8")
    with fails_with("encoding", 'no encoding "klingon"', "cp1252"):
        read_table(path, encoding="klingon")
    with fails_with("option-unused", "decimal"):
        read_table(path, decimal=",")


# --- By other programs -------------------------------------------------------------------


def test_stata_files_of_pandas(tmp_path: Path) -> None:
    """Written by code that shares nothing with the library that reads them."""
    path = tmp_path / "pandas.dta"
    shown = pd.DataFrame({"faith": pd.Categorical(["Buddhist", "None", "Buddhist", None])})
    shown.to_stata(path, write_index=False, variable_labels={"faith": "Religion"}, version=118)
    assert read_table(path)["faith"].to_list() == [0, 1, 0, None]
    told = read_codebook(path)["faith"]
    assert told.title == "Religion"
    assert dict(told.labels) == {"0": "Buddhist", "1": "None"}


IRIS = Path("/usr/lib/R/site-library/haven/examples/iris.sas7bdat")


@pytest.mark.skipif(not IRIS.is_file(), reason="needs the files of R's haven (r-cran-haven)")
def test_a_file_that_sas_wrote() -> None:
    found, theirs = read_table(IRIS), pd.read_sas(IRIS, encoding="latin-1")
    assert found.rows() == [tuple(row) for row in theirs.itertuples(index=False)]


@pytest.mark.skipif(which("pspp") is None, reason="needs PSPP")
@pytest.mark.parametrize("ending", [".sav", ".zsav"])
def test_pspp_writes_what_is_read_the_same(tmp_path: Path, ending: str) -> None:
    """PSPP reads the survey and saves it again; both files say the same."""
    path, again = save(tmp_path / f"survey{ending}"), tmp_path / f"again{ending}"
    kind = " /ZCOMPRESSED" if ending == ".zsav" else ""
    syntax = tmp_path / "run.sps"
    syntax.write_text(f"GET FILE='{path}'.\nSAVE OUTFILE='{again}'{kind}.\n")
    subprocess.run(["pspp", syntax], check=True, capture_output=True, timeout=60)
    assert read_table(again).equals(read_table(path))
    assert read_codebook(again) == read_codebook(path)
