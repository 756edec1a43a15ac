"""`shoal compare` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from shoal.cli import app
from shoal.cli.compare import _side_by_side
from shoal.data.datasets import hospital

OPTIONS = [
    "--qi",
    "age,sex",
    "--sensitive",
    "diagnosis",
    "--protect",
    "HIV|Schizophrenia",
    "-r",
    "3",
    "--min-support",
    "30",
    "--queries",
    "100",
    "--s",
    "0.2",
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "hospital.csv"
    frame = hospital(600, seed=2).with_columns((pl.col("age") // 20 * 20).alias("age"))
    frame.write_csv(path)
    return path


def test_json_has_a_line_per_method(table: Path) -> None:
    result = CliRunner().invoke(
        app, ["compare", str(table), "--methods", "art,anatomy", *OPTIONS, "--json"]
    )
    assert result.exit_code == 0, result.output
    lines = json.loads(result.stdout)["methods"]
    assert [line["method"] for line in lines] == ["art", "anatomy"]
    for key in (
        "seconds",
        "relative_error",
        "relative_error_protected",
        "problematic_share",
        "average_delta",
        "average_delta_carrying",
        "worst_posterior",
        "guess_rate",
        "counter_share",
        "counter_certain",
        "absence_carriers",
        "suppressed",
        "pooled",
        "theoretical_bound",
    ):
        assert isinstance(lines[0][key], int | float), key


def test_table_hierarchy_and_a_foreign_file(table: Path, tmp_path: Path) -> None:
    tree = tmp_path / "sex.csv"
    tree.write_text("Female;any\nMale;any\n", encoding="utf-8")
    theirs = tmp_path / "theirs.csv"
    pl.read_csv(table).with_columns(pl.lit("*").alias("age")).write_csv(theirs)
    result = CliRunner().invoke(
        app,
        [
            "compare",
            str(table),
            "--methods",
            "mask",
            *OPTIONS,
            "--hierarchy",
            f"sex={tree}",
            "--released",
            f"theirs={theirs}",
        ],
    )
    assert result.exit_code == 0, result.output
    assert "mask" in result.stdout
    assert "theirs" in result.stdout
    assert "Seeds 0." in result.stdout
    lines = result.stdout.splitlines()
    assert any(line.startswith("not decided ") for line in lines)
    assert max(map(len, lines)) <= 100
    assert "above limit: people linked above their limit, in percent of the people" in result.stdout


def test_many_methods_stand_in_blocks_that_fit(capsys: pytest.CaptureFixture[str]) -> None:
    cells = {f"method-{number}": ["12.5 %", "1,234.5678"] for number in range(12)}
    _side_by_side(["worst stratum", "above limit"], cells)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert [line.split() for line in lines if not line.startswith(("worst", "above"))] == [
        list(cells)[:7],
        [],
        list(cells)[7:],
    ]


def test_a_failing_method_is_named_with_its_reason(table: Path) -> None:
    result = CliRunner().invoke(
        app, ["compare", str(table), "--methods", "anatomy", *OPTIONS, "-r", "300"]
    )
    assert result.exit_code == 0, result.output
    assert "anatomy: no release." in result.stdout


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        (["--methods", "arts"], "method"),
        (["--released", "file.csv"], "option-form"),
        (["--key", "patient"], "key-alone"),
    ],
)
def test_bad_options_are_refused(table: Path, extra: list[str], code: str) -> None:
    result = CliRunner().invoke(app, ["compare", str(table), *OPTIONS, *extra])
    assert result.exit_code != 0
    assert getattr(result.exception, "code", None) == code
