"""Every control can be reached, on a phone and at 200 and 400 per cent; few words and keys are
before the next step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from shoal.data.datasets import hospital
from tests.browsing import look
from tests.workbench.full import FULL, shown
from tests.workbench.served import served
from tests.workbench.walker import LONG, Walker

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OUT_OF_REACH = """
for (const one of document.querySelectorAll("main details")) one.open = true;
const found = [];
for (const one of document.querySelectorAll(
    "a[href], button, input:not([type=hidden]), select, textarea, summary")) {
  if (!one.checkVisibility() || one.disabled || one.tabIndex < 0) continue;
  if (one.closest(".skip, svg")) continue;
  one.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
  const [box] = one.getClientRects();
  const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  const label = hit && hit.closest("label");
  const mine = hit && (one.contains(hit) || hit.contains(one) || (label && label.control === one));
  if (!mine || box.width > innerWidth) found.push(one.outerHTML.slice(0, 120));
}
return found;
"""
WORDS = """
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let first = 0;
while (walk.nextNode()) {
  const text = walk.currentNode, owner = text.parentElement, said = text.textContent.trim();
  if (!said || !owner.checkVisibility() || owner.closest("option, script, .skip")) continue;
  const range = document.createRange();
  range.selectNode(text);
  const box = range.getBoundingClientRect();
  if (box.top < innerHeight && box.bottom > 0) first += said.split(/\\s+/).length;
}
return first;
"""


@pytest.mark.parametrize("width", [320, 390, 640])
def test_every_control_is_within_reach(full: Walker, width: int) -> None:
    """390 pixels: a phone; 640 and 320: a window of 1,280 at 200 and at 400 per cent."""
    look(full.browser, width=width, height=740)
    found = {}
    for path in FULL:
        shown(full, path, full=True)
        if not full.fits() and "report" not in path:
            found[path] = ["wider than the window"]
        if out := full.browser.execute_script(OUT_OF_REACH):
            found[path] = out
    assert found == {}


@pytest.mark.parametrize(("path", "most"), [("/runs/0002", 250), ("/roles", 300), ("/run", 200)])
def test_first_screens_are_read_in_two_minutes(full: Walker, path: str, most: int) -> None:
    """At 200 words a minute; the page to decide on had 1,410 words, that of roles 700."""
    look(full.browser, width=1280, height=900)
    shown(full, path, full=True)
    assert 50 < full.browser.execute_script(WORDS) <= most


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/table", "Next: Roles"),
        ("/roles", "Next: Plan"),
        ("/plan", "Next: Run"),
        ("/run", "Start"),
    ],
)
def test_the_next_step_is_few_keys_away(full: Walker, path: str, name: str) -> None:
    """From the top of a page, by Tab alone; on the page of roles it took 80."""
    look(full.browser, width=1280)
    shown(full, path, full=True)
    focused = "return document.activeElement.innerText.trim()"
    for _ in range(20):
        full.browser.switch_to.active_element.send_keys(Keys.TAB)
        if full.browser.execute_script(focused) == name:
            return
    raise AssertionError(f"{name} is more than 20 keys away")


def test_a_verified_release_is_eight_clicks_away(browser: Any, tmp_path: Path) -> None:
    """From a file outside the project; what is proposed is taken as it is."""
    hospital(2_000, seed=5).write_csv(tmp_path / "hospital.csv")
    look(browser, width=1280)
    with served(tmp_path / "project") as place:
        walker = Walker(browser, place).enter()
        clicks = ["Next: Table", "Send the file", "Next: Roles", "Next: Plan", "Go on without"]
        for words in (*clicks, "Start"):
            if words == "Send the file":
                file = walker.find("//input[@type='file']")
                file.send_keys(str(tmp_path / "hospital.csv"))
            walker.press(words)
        walker.sees("Verified. Every link of a person to an event", LONG)
        assert len(clicks) + len(["Start", "the field of the file"]) <= 8
        browser.get("about:blank")


def test_a_point_of_the_picture_opens_its_run(full: Walker) -> None:
    look(full.browser, width=1280)
    shown(full, "/runs", full=True)
    links = "//div[contains(@class, 'wide')]//*[name()='a']/*[name()='path']"
    full.find(links).click()
    full.sees("Run 0002")
    assert full.path == "/runs/0002"
