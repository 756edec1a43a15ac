"""The report in a real browser: nothing fails, nothing is fetched, everything is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from selenium.webdriver.support.ui import WebDriverWait

import shoal
from shoal.auditing.check_words import largest_words
from shoal.auditing.verdict import Audit
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, hospital
from shoal.data.table import Table
from shoal.release import facts as recorded
from shoal.report import page as report
from tests.browsing import chromium, look, requested

pytestmark = pytest.mark.browser

HOSTILE = ("</script><script>throw 1</script>", "<img src=http://example.org/x onerror=y()>", "a")


@dataclass(frozen=True)
class Written:
    """A page on disk, and the verdict of the audit that it is about."""

    path: Path
    verdict: str


def verdict_of(audit: Audit, event: str) -> str:
    """What the page must say, from the audit's own figures."""
    states = [check.state for check in audit.checks if check.state != "not asked"]
    if audit.robust:
        largest = largest_words(audit.checks, event).replace("\u00a0", " ")
        return f"Robust at r = {audit.r:g}: all {len(states)} checks are kept. {largest}"
    assert audit.problematic >= 5
    assert states.count("broken") > 1
    people = f"{audit.problematic:,} people are linked above their limit by one group and"
    broken = f"{states.count('broken')} of {len(states)} checks are broken"
    return f"Not robust at r = {audit.r:g}: {people} one view at a time. {broken}."


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    folder = tmp_path_factory.mktemp("pages")
    spec = shoal.Spec(
        qi=HOSPITAL_QI, sensitive="diagnosis", protect=[HOSPITAL_EVENT], r=3, min_support=100
    )
    table = Table.from_frame(hospital(2_000, seed=4), spec)
    release = shoal.anonymize(table, spec, method="anatomy", l=4, seed=1)
    assert release.audit is not None
    facts = recorded.release_facts(release, table)
    whole = shoal.audit(table, np.zeros(table.rows, int), r=1.5)

    rng = np.random.default_rng(2)
    frame = pl.DataFrame({name: rng.choice(HOSTILE, 200) for name in ("<i>q", "v")})
    hostile = Table.from_frame(frame, shoal.Spec(qi=("<i>q",), sensitive="v", r=2, min_support=9))
    judged = shoal.audit(hostile, np.arange(200) // 5)
    event = "“HIV|Schizophrenia”"
    made = {
        "internal": (report.render(facts), verdict_of(release.audit, event)),
        "public": (report.render(facts, edition="public"), verdict_of(release.audit, event)),
        "robust": (report.render_audit(whole, table), verdict_of(whole, event)),
        "hostile": (
            report.render_audit(judged, hostile),
            verdict_of(judged, "a protected event"),
        ),
    }
    assert [release.audit.robust, whole.robust, judged.robust] == [False, True, False]
    for name, (html, _) in made.items():
        report.write(html, folder / f"{name}.html")
    return {name: Written(folder / f"{name}.html", text) for name, (_, text) in made.items()}


def opened(browser: Any, page: Path, *, width: int = 1280, mode: str = "light") -> list[str]:
    """Opens a page and waits for its charts; returns the addresses that it asked for."""
    look(browser, width=width, mode=mode)
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(page.as_uri())
    everything = "document.querySelectorAll('[data-chart]').length"
    drawn = "document.querySelectorAll('[data-chart] .live svg').length"
    WebDriverWait(browser, 30).until(
        lambda b: b.execute_script(f"return {everything} > 0 && {everything} === {drawn}")
    )
    return requested(browser)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("name", ["internal", "public", "robust", "hostile"])
def test_page_is_complete(
    browser: Any, pages: dict[str, Written], name: str, width: int, mode: str
) -> None:
    page = pages[name]
    asked = opened(browser, page.path, width=width, mode=mode)
    assert asked == [page.path.as_uri()]
    assert browser.get_log("browser") == []

    marks = browser.execute_script(
        """return [...document.querySelectorAll('[data-chart]')].map(f => [f.dataset.chart,
          [...f.querySelectorAll('.live svg .role-mark path, .live svg .role-mark rect')]
            .map(m => m.getBoundingClientRect())
            .filter(b => b.width > 0 && b.height > 0).length])"""
    )
    assert {chart for chart, _ in marks} >= {"risk-before", "risk-after", "views", "sizes"}
    assert not [chart for chart, count in marks if count == 0]

    verdict = browser.execute_script("return document.querySelector('#verdict h2').textContent")
    assert verdict.replace("\u00a0", " ") == page.verdict

    listed = browser.execute_script(
        """return [...document.querySelectorAll('.checks > div')].map(d => [
          d.querySelector('.state').textContent, getComputedStyle(d).borderLeftColor])"""
    )
    assert {state for state, _ in listed} >= {"kept", "not asked"}
    assert ("BROKEN" in dict(listed)) is page.verdict.startswith("Not robust")
    colours = dict(listed)
    assert len({*map(tuple, listed)}) == len(colours)
    assert colours.pop("counted", colours["not asked"]) == colours["not asked"], "both are gray"
    assert len(set(colours.values())) == len(colours)

    wide, seen = browser.execute_script(
        "const d = document.documentElement; return [d.scrollWidth, d.clientWidth]"
    )
    assert wide == seen <= width
    paper, ink = browser.execute_script(
        "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
    )
    light = [sum(int(n) for n in c[c.index("(") + 1 : -1].split(",")[:3]) for c in (paper, ink)]
    assert (light[0] > light[1]) is (mode == "light")


def test_charts_follow_the_mode(browser: Any, pages: dict[str, Written]) -> None:
    colour = """return getComputedStyle(document.querySelector(
      "[data-chart=sizes] .live svg .role-axis-label text")).fill"""
    found = []
    for mode in ("light", "dark"):
        opened(browser, pages["internal"].path, mode=mode)
        found.append(browser.execute_script(colour))
    assert found[0] != found[1]
    assert all(value.startswith("rgb") for value in found)


def test_hostile_values_are_shown_and_do_nothing(browser: Any, pages: dict[str, Written]) -> None:
    opened(browser, pages["hostile"].path)
    text = browser.execute_script("return document.body.innerText")
    assert HOSTILE[0] in text
    assert HOSTILE[1] in text
    counted = browser.execute_script(
        "return [document.images.length, document.scripts.length, document.links.length]"
    )
    assert counted == [0, 2, 0]


def test_print_shows_the_drawings_on_white(browser: Any, pages: dict[str, Written]) -> None:
    opened(browser, pages["internal"].path, mode="dark")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = browser.execute_script(
        """return [...document.querySelectorAll('[data-chart]')].map(f =>
          [f.querySelector('.drawn svg').getBoundingClientRect().height > 50,
           f.querySelector('.live').getBoundingClientRect().height])"""
    )
    assert shown
    assert all(drawn and live == 0 for drawn, live in shown)
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"


def test_without_scripts_the_drawings_stand_there(browser: Any, pages: dict[str, Written]) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "screen"})
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(pages["public"].path.as_uri())
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    heights = browser.execute_script(
        """return [...document.querySelectorAll('.drawn svg')].map(
          s => s.getBoundingClientRect().height)"""
    )
    assert heights
    assert min(heights) > 50


def test_tooltips_speak(browser: Any, pages: dict[str, Written]) -> None:
    opened(browser, pages["internal"].path)
    place = browser.execute_script(
        """const bar = document.querySelector('[data-chart=views] .live .role-mark path');
        bar.scrollIntoView({block: 'center'}); const b = bar.getBoundingClientRect();
        return [b.x + 5, b.y + b.height / 2]"""
    )
    browser.execute_cdp_cmd(
        "Input.dispatchMouseEvent", {"type": "mouseMoved", "x": place[0], "y": place[1]}
    )
    tip = "return document.getElementById('vg-tooltip-element')?.innerText || ''"
    WebDriverWait(browser, 10).until(lambda b: "highest after" in b.execute_script(tip))
    assert browser.get_log("browser") == []
