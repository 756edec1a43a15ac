"""Pages and reports on paper: A4, numbered, nothing cut off, no heading left alone."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.browsing import look
from tests.workbench.full import shown
from tests.workbench.walker import Walker

pytestmark = [pytest.mark.browser, pytest.mark.slow]
pdfium = pytest.importorskip("pypdfium2", reason="needs pypdfium2: the extra test")

A4, SIDE = (595, 842), 45
"""In points: the page, and the margins of the style sheet."""
PAPER = (
    "/runs/0002", "/runs/0002/report.html", "/runs/0002/report-public.html", "/look?run=0002",
    "/compare?runs=0002", "/runs", "/roles", "/context",
)  # fmt: skip


def printed(walker: Walker) -> Any:
    walker.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    told = walker.browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    return pdfium.PdfDocument(base64.b64decode(told["data"]))


def within(text: Any, place: int) -> bool:
    """Whether a letter stands inside the margins."""
    left, bottom, right, top = text.get_charbox(place)
    whole = SIDE - 1 <= left <= right <= A4[0] - SIDE + 1 and 10 <= bottom <= top <= A4[1] - 40
    return whole or not text.get_text_range(place, 1).strip()


@pytest.mark.parametrize("path", PAPER)
def test_nothing_is_cut_off(full: Walker, path: str) -> None:
    look(full.browser, width=1280)
    shown(full, path, full=True)
    headings = full.browser.execute_script(
        "return [...document.querySelectorAll('h2, h3')].map((one) => one.innerText.trim())"
    )
    document = printed(full)
    try:
        for number, page in enumerate(document, start=1):
            assert tuple(round(side) for side in page.get_size()) == A4
            text = page.get_textpage()
            said = text.get_text_range()
            assert f"Page {number} of {len(document)}" in said
            out = [one for one in range(text.count_chars()) if not within(text, one)]
            cut = [(text.get_text_range(max(0, one - 9), 19), text.get_charbox(one)) for one in out]
            assert cut == [], number
            body = [one for one in said.split("\r\n") if one.strip() and "Page " not in one]
            assert not body or body[-1].strip() not in headings, (number, body[-1])
    finally:
        document.close()
