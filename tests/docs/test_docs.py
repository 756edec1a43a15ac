"""The documentation says what is so: its commands and code run, its made pages are current."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import DOCS, blocks, run_page
from tools.error_codes import Entry, collect
from tools.pages import cli_page, errors_page

HOWTOS = sorted(f"howto/{page.name}" for page in (DOCS / "howto").glob("*.md"))


def test_the_tutorial_shows_every_step_of_a_newcomer() -> None:
    text = "\n".join(block.text for block in blocks("tutorial.md") if block.language == "bash")
    for command in ("demo", "init", "plan", "anonymize", "verify", "audit", "report"):
        assert f"shoal {command} " in text


@pytest.mark.parametrize("page", ["../README.md", *HOWTOS, "theory.md"])
def test_code_of_a_page_runs(page: str, tmp_path: Path) -> None:
    assert run_page(page, tmp_path) >= 1


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    """What the source says of each error, read once."""
    return collect()


def test_every_error_code_is_in_the_catalogue(entries: list[Entry]) -> None:
    page = (DOCS / "errors.md").read_text("utf-8")
    missing = [entry.code for entry in entries if f"## `{entry.code}`\n" not in page]
    assert not missing, "run python -m tools"


def test_every_error_says_what_to_do(entries: list[Entry]) -> None:
    silent = [entry.code for entry in entries if not all(map(str.strip, entry.remedies))]
    assert not silent


def test_codes_in_a_call_of_a_helper_are_found(entries: list[Entry]) -> None:
    assert {"method", "reader"} <= {entry.code for entry in entries}


@pytest.mark.parametrize("name", ["errors.md", "reference/cli.md"])
def test_made_pages_are_current(name: str) -> None:
    make = {"errors.md": errors_page, "reference/cli.md": cli_page}[name]
    assert (DOCS / name).read_text("utf-8") == make(), "run python -m tools"
