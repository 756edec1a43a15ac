"""Tables of figures are those of the benchmark's result file, never typed by hand."""

from __future__ import annotations

import pytest

from benchmarks.readme import BLOCK, PAGES, ROOT, fill, kept
from benchmarks.tables import BLOCKS


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_those_of_the_result_file(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert fill(text, kept()) == text, "run python -m benchmarks.readme"


def test_every_table_has_a_place() -> None:
    text = "".join((ROOT / page).read_text("utf-8") for page in PAGES)
    assert {name for _, name, _ in BLOCK.findall(text)} == set(BLOCKS)


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(SystemExit, match="bench:nothing"):
        fill("<!-- bench:nothing -->\n<!-- /bench -->", {})
