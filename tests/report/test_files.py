"""Facts in files, wrong arguments, and the commands that write reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import Result
from typer.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.cli.report import check_reports
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.release import facts as recorded
from shoal.release.facts.contents import Facts
from shoal.report import page as report
from tests.report.marked import ROWS, assert_nothing_of_one_person, marked, marked_table


def test_the_same_facts_give_the_same_bytes_and_survive_a_file(
    made: tuple[shoal.Release, Table], tmp_path: Path
) -> None:
    facts = recorded.release_facts(*made)
    recorded.keep_facts(facts, tmp_path)
    again = recorded.load_facts(tmp_path)
    for edition in ("internal", "public"):
        assert report.render(again, edition=edition) == report.render(facts, edition=edition)


def test_files_that_are_no_facts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no report\.json"):
        recorded.load_facts(tmp_path)
    (tmp_path / "report.json").write_text('{"format": "shoal-report/1"}', encoding="utf-8")
    with pytest.raises(InputError, match="no report that this version"):
        recorded.load_facts(tmp_path)


def test_wrong_arguments(made: tuple[shoal.Release, Table], facts: Facts) -> None:
    release, table = made
    with pytest.raises(InputError, match='no edition "secret"'):
        report.render(facts, edition="secret")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="was loaded"):
        report.render_release(replace(release, run=None), table)
    with pytest.raises(InputError, match="The audit is of"):
        report.render_audit(release.audit, marked_table())  # type: ignore[arg-type]


def test_reports_are_checked_before_a_long_run(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(InputError, match="is the input itself"):
        check_reports({"report": table}, table=str(table))
    with pytest.raises(InputError, match="There is no folder"):
        check_reports({"report": tmp_path / "none" / "r.html"})
    with pytest.raises(InputError, match="same file"):
        check_reports(dict.fromkeys(("report", "public_report"), tmp_path / "r.html"))


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
            "--rare-unknown",
            "town",
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
    facts = recorded.release_facts(release, table)
    done = CliRunner().invoke(app, ["report", str(run), "--public-report", str(page)])
    assert done.exit_code == 0, done.output
    assert page.read_text(encoding="utf-8") == report.render(facts, edition="public")

    recorded.keep_facts(replace(facts, certificate="other"), tmp_path / "run-private")
    done = CliRunner().invoke(app, ["report", str(run), "--report", str(page)])
    assert isinstance(done.exception, InputError)
    assert done.exception.code == "report-other"
    done = CliRunner().invoke(app, ["report", str(run)])
    assert isinstance(done.exception, InputError)
    assert done.exception.code == "report-nowhere"


COMMANDS = {
    "anonymize": [
        *("anonymize", "table.csv", "--out", "out", "--method", "anatomy", "--l", "3"),
        "--write-anyway",
    ],
    "audit": ["audit", "table.csv", "--groups", "g", "--rows", "rows.csv"],
}
PAGES = ["--report", "inside.html", "--public-report", "outside.html"]


@pytest.fixture
def run_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs a command on a table in an empty folder."""
    monkeypatch.chdir(tmp_path)
    marked().with_columns(pl.Series("g", np.arange(ROWS) // 6)).write_csv("table.csv")
    spec = [
        "--qi",
        "town,salary,sex",
        "--rare-unknown",
        "town",
        "--sensitive",
        "sick",
        "--protect",
        "HIV",
        "-r",
        "3",
        "--min-support",
        "40",
    ]
    return lambda *arguments: CliRunner().invoke(app, [*arguments, *spec])


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "step", ["shoal.release.facts.contents._people", "shoal.report.page.public_facts"]
)
def test_what_fails_in_the_report_leaves_nothing_behind(
    run_in: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, command: str, step: str
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise InputError("made-up", "It fails.", "Try again.")

    monkeypatch.setattr(step, fail)
    done = run_in(*COMMANDS[command], *PAGES)
    assert isinstance(done.exception, InputError)
    assert done.exception.code == "made-up"
    assert [entry.name for entry in Path().iterdir()] == ["table.csv"]


def test_a_release_that_cannot_be_written_leaves_no_report(run_in: Callable[..., Result]) -> None:
    Path("out").mkdir()
    Path("out", "diary.txt").touch()
    done = run_in(*COMMANDS["anonymize"], "--force", *PAGES)
    assert isinstance(done.exception, InputError)
    assert done.exception.code == "output-foreign"
    assert {entry.name for entry in Path().iterdir()} == {"table.csv", "out"}


def test_everything_is_written_when_all_is_well(run_in: Callable[..., Result]) -> None:
    done = run_in(*COMMANDS["anonymize"], *PAGES)
    assert done.exit_code == 1, done.output
    assert "NOT ROBUST, and written all the same" in done.output
    names = {"table.csv", "out", "out-private", "inside.html", "outside.html"}
    assert {entry.name for entry in Path().iterdir()} == names
    again = CliRunner().invoke(app, ["report", "out", "--report", "again.html"])
    assert again.exit_code == 0, again.output
    assert Path("again.html").read_bytes() == Path("inside.html").read_bytes()


@pytest.mark.parametrize("folder", ["out", "out-private"])
def test_a_report_does_not_go_into_a_folder_that_is_replaced(
    run_in: Callable[..., Result], folder: str
) -> None:
    assert run_in(*COMMANDS["anonymize"]).exit_code == 1
    done = run_in(*COMMANDS["anonymize"], "--force", "--report", f"{folder}/page.html")
    assert isinstance(done.exception, InputError)
    assert done.exception.code == "report-inside"


def test_facts_of_another_release_are_refused(
    made: tuple[shoal.Release, Table], tmp_path: Path
) -> None:
    release, table = made
    facts = replace(recorded.release_facts(release, table), certificate="other")
    with pytest.raises(InputError) as raised:
        release.save(tmp_path / "run", private=tmp_path / "inside", facts=facts)
    assert raised.value.code == "facts-other"
    assert not any(tmp_path.iterdir())
