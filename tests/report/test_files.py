"""Facts in files, wrong arguments, and the commands that write reports."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal import report
from shoal.cli import app
from shoal.cli.report import check_reports
from shoal.errors import InputError
from shoal.report.facts import Facts
from shoal.table import Table
from tests.report.marked import ROWS, assert_nothing_of_one_person, marked, marked_table


def test_the_same_facts_give_the_same_bytes_and_survive_a_file(
    made: tuple[shoal.Release, Table], tmp_path: Path
) -> None:
    facts = report.release_facts(*made)
    report.keep_facts(facts, tmp_path)
    again = report.load_facts(tmp_path)
    for edition in ("internal", "public"):
        assert report.render(again, edition=edition) == report.render(facts, edition=edition)


def test_files_that_are_no_facts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no report\.json"):
        report.load_facts(tmp_path)
    (tmp_path / "report.json").write_text('{"format": "shoal-report/1"}', encoding="utf-8")
    with pytest.raises(InputError, match="no report that this version"):
        report.load_facts(tmp_path)


def test_wrong_arguments(made: tuple[shoal.Release, Table], facts: Facts) -> None:
    release, table = made
    with pytest.raises(InputError, match='no edition "secret"'):
        report.render(facts, edition="secret")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no audit to report"):
        report.render_release(replace(release, audit=None), table)
    with pytest.raises(InputError, match="The audit is of"):
        report.render_audit(release.audit, marked_table())  # type: ignore[arg-type]


def test_a_missing_package_is_named(facts: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(InputError, match=r"shoal\[report\]"):
        report.render(facts)


def test_reports_are_checked_before_a_long_run(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(InputError, match="is the input itself"):
        check_reports(table, table=str(table))
    with pytest.raises(InputError, match="There is no folder"):
        check_reports(tmp_path / "none" / "r.html")
    with pytest.raises(InputError, match="same file"):
        check_reports(tmp_path / "r.html", tmp_path / "r.html")


def test_audit_command_writes_both_editions(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    marked().with_columns(pl.Series("g", np.arange(ROWS) // 6)).write_csv(file)
    inside, outside = tmp_path / "inside.html", tmp_path / "outside.html"
    done = CliRunner().invoke(
        app,
        [
            "audit",
            str(file),
            "--groups",
            "g",
            "--qi",
            "town,salary,sex",
            "--sensitive",
            "sick",
            "--protect",
            "HIV",
            "-r",
            "3",
            "--min-support",
            "40",
            "--json",
            "--report",
            str(inside),
            "--public-report",
            str(outside),
        ],
    )
    figures = json.loads(done.stdout)
    assert done.exit_code == (0 if figures["robust"] else 1)
    assert "TOWN-MARK" in inside.read_text(encoding="utf-8")
    assert_nothing_of_one_person(outside.read_text(encoding="utf-8"))


def test_report_command_renders_again(made: tuple[shoal.Release, Table], tmp_path: Path) -> None:
    release, table = made
    run, page = tmp_path / "run", tmp_path / "page.html"
    release.save(run, private=tmp_path / "run-private")
    facts = report.release_facts(release, table)
    report.keep_facts(facts, tmp_path / "run-private")
    done = CliRunner().invoke(app, ["report", str(run), "--public-report", str(page)])
    assert done.exit_code == 0, done.output
    assert page.read_text(encoding="utf-8") == report.render(facts, edition="public")

    report.keep_facts(replace(facts, certificate="other"), tmp_path / "run-private")
    done = CliRunner().invoke(app, ["report", str(run), "--report", str(page)])
    assert isinstance(done.exception, InputError)
    assert done.exception.code == "report-other"
    done = CliRunner().invoke(app, ["report", str(run)])
    assert isinstance(done.exception, InputError)
    assert done.exception.code == "report-nowhere"
