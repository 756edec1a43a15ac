"""The documentation says what is so: its commands and code run, its made pages are current."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.cli.explained import Entry, collect
from tests.docs.blocks import DOCS, blocks, run_page, run_python
from tools.__main__ import PAGES

README = DOCS.parent / "README.md"
HOWTOS = sorted(f"howto/{page.name}" for page in (DOCS / "howto").glob("*.md"))


def test_the_tutorial_shows_every_step_of_a_newcomer() -> None:
    text = "\n".join(block.text for block in blocks("tutorial.md") if block.language == "bash")
    for command in ("demo", "init", "plan", "anonymize", "verify", "audit", "report"):
        assert f"shoal {command} " in text


@pytest.mark.parametrize("page", ["../README.md", *HOWTOS, "theory.md"])
def test_code_of_a_page_runs(page: str, tmp_path: Path) -> None:
    assert run_page(page, tmp_path) >= 1


def test_the_readme_shows_six_people_of_its_own_release(tmp_path: Path) -> None:
    (snippet,) = [one.text for one in blocks("../README.md") if one.language == "python"]
    names: dict[str, Any] = {}
    run_python(snippet, tmp_path, "README.md", names)
    release, patients, page = names["release"], names["patients"], README.read_text("utf-8")
    lines = [one for one in page.replace("*", "").splitlines() if one.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:8]]
    (gid,) = {int(one[4]) for one in cells}
    people = patients.select(*release.spec.qi, "diagnosis")
    assert [one[:4] for one in cells] == [
        list(one) for one in people.filter(release.row_groups == gid).rows()
    ]
    shown = release.qi_table.filter(gid=gid).select(release.spec.qi)
    assert [one[5:8] for one in cells] == [list(one) for one in shown.rows()]
    values = release.sensitive_table.filter(gid=gid).sort("count", descending=True)
    assert cells[0][8] == ", ".join(f"{count} × {value}" for _, value, count in values.rows())
    assert f"{100 / release.spec.r:.1f} %" in page
    assert f"{patients.height:,} patients" in page


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").split()) <= 950


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    """What the source says of each error, read once."""
    return collect()


def test_every_error_code_is_in_the_catalogue(entries: list[Entry]) -> None:
    page = (DOCS / "errors.md").read_text("utf-8")
    missing = [entry.code for entry in entries if f"\n| `{entry.code}` | " not in page]
    assert not missing, "run python -m tools"


def test_every_error_says_what_to_do(entries: list[Entry]) -> None:
    silent = [entry.code for entry in entries if not all(map(str.strip, entry.remedies))]
    assert not silent


def test_codes_in_a_call_of_a_helper_are_found(entries: list[Entry]) -> None:
    assert {"method", "reader"} <= {entry.code for entry in entries}


@pytest.mark.parametrize("name", PAGES)
def test_made_pages_are_current(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == PAGES[name](), "run python -m tools"
