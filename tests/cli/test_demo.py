"""`shoal demo` as a user runs it: what it says, keeps and refuses."""

from __future__ import annotations

from pathlib import Path

from shoal.release.stated import read_certificate
from shoal.wording import plain_percent
from tests.cli.program import refused, shoal_

SMALL = ["demo", "--rows", "2000", "--out", "demo"]


def test_it_keeps_a_folder_that_every_command_takes_and_replaces_only_its_own(
    tmp_path: Path,
) -> None:
    done = shoal_(*SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "An independent check confirms the certificate." in done.stdout
    kept = {entry.name for entry in (tmp_path / "demo").iterdir()}
    assert kept == {"hospital.csv", "spec.toml", "release", "private", "report.html"}
    run = ["report", "demo/release", "--private", "demo/private", "--public-report", "public.html"]
    done = shoal_(*run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "public.html").is_file()

    refused(shoal_(*SMALL, cwd=tmp_path), "output-exists")
    assert shoal_(*SMALL, "--force", cwd=tmp_path).returncode == 0
    assert {entry.name for entry in (tmp_path / "demo").iterdir()} == kept


def test_its_report_is_written_where_it_says(tmp_path: Path) -> None:
    for _ in range(2):  # the second replaces the first
        done = shoal_("demo", "--rows", "2000", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        (said,) = (line for line in done.stdout.splitlines() if line.startswith("6. The report"))
        page = Path(said.partition(": ")[2])
        assert [page] == list(tmp_path.resolve().iterdir())
        assert page.read_text("utf-8").startswith("<!doctype html>")
    page.unlink()
    page.mkdir()
    refused(shoal_("demo", cwd=tmp_path), "output-place")


def test_it_does_not_replace_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "letters.txt").write_text("dear", "utf-8")
    done = shoal_(*SMALL, "--force", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("[output-foreign]")
    assert (tmp_path / "demo" / "letters.txt").read_text("utf-8") == "dear"


def test_a_seed_below_0_is_refused(tmp_path: Path) -> None:
    refused(shoal_(*SMALL, "--seed", "-1", cwd=tmp_path), "seed")


def test_it_names_the_link_that_the_verdict_names(tmp_path: Path) -> None:
    done = shoal_(*SMALL, cwd=tmp_path)
    told = read_certificate(tmp_path / "demo" / "release")
    (one,) = (check for check in told["audit"]["checks"] if check["name"] == "one-view")
    named = f"the link nearest to its limit is {plain_percent(one['worst'])}, "
    assert named in done.stdout
    (every,) = (check for check in told["audit"]["checks"] if check["name"] == "all-views")
    assert f"By all statistics together it is {plain_percent(every['worst'])}, " in done.stdout
