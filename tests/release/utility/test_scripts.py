"""README.txt's scripts, run where R and Stata are at hand, against what shoal says."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.data.datasets import ILLNESSES_QI, illnesses
from shoal.data.sources.guard import guarded
from shoal.data.spec import InputWarning, Spec
from shoal.release import Release
from shoal.release.utility.r_script import r_text
from shoal.release.utility.script import Script
from shoal.release.utility.sql import example
from shoal.release.utility.stata_script import stata_script
from tests.docs.blocks import blocks
from tests.release.test_recipient import SPEC as HOSTILE
from tests.release.test_recipient import Pooling, hostile
from tests.release.weighed import SPEC, Weighed, people

ILL = ("asthma", "diabetes")


class Fives(Pooling):
    """Groups of five people, also of several columns."""

    name = "fives"
    takes_several = True


def weighed() -> Release:
    return shoal.anonymize(people(), SPEC, method=Weighed())


def ranges() -> Release:
    return shoal.anonymize(people(), SPEC, method=Weighed(form="generalized"))


def dangerous() -> Release:
    with pytest.warns(InputWarning, match="look alike"):
        return shoal.anonymize(hostile(), HOSTILE, method=Pooling(), seed=3)


def apart() -> Release:
    spec = Spec(qi=ILLNESSES_QI, sensitive=ILL, protect=[f"{one}=Yes" for one in ILL], r=1.1)
    return shoal.anonymize(
        illnesses(400, seed=2), spec.with_(publish_apart=True), method=Fives(), seed=0
    )


def documented() -> Release:
    spec = Spec(qi=["age", "sex"], sensitive="diagnosis", protect=[["HIV", "Schizophrenia"]], r=1.5)
    return shoal.anonymize(shoal.datasets.hospital(2000, seed=0), spec, method=Weighed())


RELEASES = {one.__name__: cache(one) for one in (weighed, ranges, dangerous, apart, documented)}
END = """
listed <- everybody[, c({columns}), with = FALSE]
listed$weight <- everybody[[ncol(everybody)]]
fwrite(listed, "listed.csv", quote = TRUE, na = "")
fwrite(draw(), "drawn.csv", quote = TRUE, na = "")
"""


@cache
def without_r() -> str:
    """Why R's scripts cannot be run here."""
    if shutil.which("Rscript") is None:
        return "R is not installed"
    found = subprocess.run(["Rscript", "-e", "library(data.table)"], capture_output=True)
    return "" if found.returncode == 0 else "R has no data.table"


def read_back(file: Path) -> pl.DataFrame:
    """What fwrite wrote; pandas' reader knows doubled quotes and line breaks in cells."""
    found = pd.read_csv(file, dtype=str, keep_default_na=False, na_values=[""])
    columns = {
        f"column{place}": [None if pd.isna(cell) else cell for cell in found[name]]
        for place, name in enumerate(found)
    }
    return pl.DataFrame(columns)


def weights(lines: pl.DataFrame, numeric: list[bool]) -> dict[tuple[Any, ...], float]:
    """The sum of the last column by all others; R reads a carriage return as a line break."""
    found: dict[tuple[Any, ...], float] = {}
    for *cells, weight in lines.iter_rows():
        key = tuple(
            None if cell is None else float(cell) if number else str(cell).replace("\r", "\n")
            for cell, number in zip(cells, numeric, strict=True)
        )
        found[key] = found.get(key, 0.0) + float(weight)
    return {key: weight for key, weight in found.items() if weight}


@pytest.mark.parametrize("name", RELEASES)
def test_r_lists_everybody_and_draws_tables(name: str, tmp_path: Path) -> None:
    if reason := without_r():
        pytest.skip(reason)
    release = RELEASES[name]()
    release.save(tmp_path / "out")
    text = (tmp_path / "out" / "README.txt").read_bytes().decode("utf-8")
    script = text[text.index("library(data.table)") : text.index("\n\nIN STATA")]
    told = Script.of(release)
    columns = ", ".join(map(r_text, [*told.attributes, *told.values]))
    script = f"options(digits = 15)\n{script}\n{END.format(columns=columns)}"
    if name == "documented":
        script += "".join(
            block.text for block in blocks("howto/use-a-release.md") if block.language == "r"
        )
    (tmp_path / "run.R").write_text(script, encoding="utf-8")
    run = subprocess.run(
        ["Rscript", str(tmp_path / "run.R")], cwd=tmp_path / "out", capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    alone = release.alone(told.values[0])
    expected = guarded(alone.table())
    numeric = [kind.is_numeric() for kind in expected.dtypes[:-1]]
    found = weights(read_back(tmp_path / "out" / "listed.csv"), numeric)
    assert found == pytest.approx(weights(expected, numeric))
    counted = re.search(r"\[1\] ([0-9.]+)", run.stdout)
    assert counted is not None
    sensitive, value, column = example(release)
    where = {} if column is None or name == "ranges" else {column.name: [column.labels[0]]}
    assert float(counted[1]) == pytest.approx(alone.count({**where, sensitive: value}))
    drawn = read_back(tmp_path / "out" / "drawn.csv")
    held = guarded(alone.sensitive)
    totals = Counter[str | None]()
    for _, shown, count in held.iter_rows():
        totals[None if shown is None else str(shown)] += count
    assert Counter(drawn.to_series(drawn.width - 1)) == totals
    ages = read_back(tmp_path / "out" / "qi.csv").to_series(len(told.attributes))
    assert Counter(drawn.to_series(len(told.attributes) - 1)) == Counter(ages)


def test_stata_lists_everybody(tmp_path: Path) -> None:
    stata = next(filter(None, map(shutil.which, ("stata-mp", "stata-se", "stata"))), None)
    if stata is None:
        pytest.skip("Stata is not installed")
    release = weighed()
    release.save(tmp_path / "out")
    text = (tmp_path / "out" / "README.txt").read_text("utf-8")
    script = text[text.index("local how") :]
    (tmp_path / "out" / "run.do").write_text(f"{script}\ntotal s_weight\ndisplay r(table)[1, 1]\n")
    subprocess.run([stata, "-b", "do", "run.do"], cwd=tmp_path / "out", check=True)
    log = (tmp_path / "out" / "run.log").read_text("utf-8")
    figures = [float(one) for one in re.findall(r"^([0-9.]+)$", log, re.MULTILINE)]
    sensitive, value, column = example(release)
    where = {} if column is None else {column.name: [column.labels[0]]}
    said = [release.count({**where, sensitive: value}), release.qi.height]
    assert figures == pytest.approx(said, rel=1e-6)


def test_stata_is_shown_no_text_that_it_would_take_for_something_else(tmp_path: Path) -> None:
    """Columns without names of Stata's are numbered, and texts hold neither quotes, macros nor
    line breaks."""
    script = stata_script(Script.of(dangerous()), {"qi": "qi.csv", "sensitive": "sensitive.csv"})
    assert "rename (v1 v2 v3 v4 v5) (gid column1 column2 born whole)\n" in script
    assert "* column2 is -9\n" in script
    texts = re.findall(r'"([^"\n]*)"', re.sub(r"`held'|`how'", "", script))
    assert not [text for text in texts if set("`'$\\") & set(text)]
    assert len(texts) >= 5
    for line in script.splitlines():
        assert line.count('"') % 2 == 0
