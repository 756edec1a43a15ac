"""The assessment on paper: A4, numbered pages, and no text that is cut off."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

import pytest

from shoal.workbench.evidence import write_evidence
from shoal.workbench.project import Context, Run
from shoal.workbench.project.context import Intrusion
from tests.browsing import chromium

pytestmark = [pytest.mark.browser, pytest.mark.slow]
pdfium = pytest.importorskip("pypdfium2", reason="needs pypdfium2: the extra test")

LONG = "Unbreakable" * 12
A4 = (595, 842)
"""In points."""
SIDE = 45
"""The margin that the style sheet leaves: 16 mm."""


@pytest.fixture(scope="module")
def printed(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """With all that makes tables wide: attackers, long names, statements."""
    long = Intrusion(who=LONG, means="x " * 90, tried=LONG, result="None")
    said = Context(controller=LONG, purpose="For research. " * 60, intrusions=(long,))
    out = tmp_path_factory.mktemp("print")
    page = write_evidence(run.folder, out / "e.html", context=said)
    with chromium(out / "profile") as browser:
        browser.get(page.as_uri())
        told = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    document = pdfium.PdfDocument(base64.b64decode(told["data"]))
    yield document
    document.close()


def boxes(page: Any) -> list[tuple[float, float, float, float]]:
    """Where each letter of a page stands: left, bottom, right, top."""
    text = page.get_textpage()
    places = range(text.count_chars())
    return [text.get_charbox(one) for one in places if text.get_text_range(one, 1).strip()]


def test_pages_are_a4_and_numbered(printed: Any) -> None:
    pages = len(printed)
    assert pages > 5
    for number, page in enumerate(printed, start=1):
        assert tuple(round(side) for side in page.get_size()) == A4
        assert f"Page {number} of {pages}" in page.get_textpage().get_text_range()


def test_nothing_is_cut_off(printed: Any) -> None:
    for number, page in enumerate(printed, start=1):
        for left, bottom, right, top in boxes(page):
            assert left >= SIDE - 1, number
            assert right <= A4[0] - SIDE + 1, number
            assert bottom >= 10, number
            assert top <= A4[1] - 40, number
    text = "".join(page.get_textpage().get_text_range() for page in printed)
    for said in ("Clause by clause", "Signature of who decides", "not beaten", "Surest"):
        assert said in text
    assert "".join(text.split()).count(LONG) == 3


def test_no_page_ends_with_a_heading(printed: Any) -> None:
    for page in printed:
        lines = page.get_textpage().get_text_range().split("\r\n")
        body = [one for one in lines if one.strip() and "Page " not in one]
        last = [one for one in body if one != "Assessment of a release"][-1]
        assert not re.match(r"[0-9]{1,2}\. [A-Z]", last), last
