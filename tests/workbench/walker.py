"""Somebody in front of a browser: presses what has a name, types, waits, and looks at pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.browsing import requested
from tests.workbench.served import Served

PATIENCE, LONG = 30, 300
"""Seconds for a page, and for a run: in a fresh checkout the first one compiles what is fast."""


def quoted(text: str) -> str:
    assert '"' not in text
    return f'"{text}"'


@dataclass
class Walker:
    browser: Any
    served: Served

    def enter(self) -> Walker:
        for kind in ("browser", "performance"):  # what the browser's own first page did
            self.browser.get_log(kind)
        self.browser.get(self.served.entrance)
        return self

    def go(self, path: str) -> None:
        self.browser.get(self.served.address + path)

    @property
    def path(self) -> str:
        return str(self.browser.current_url).removeprefix(self.served.address)

    @property
    def words(self) -> str:
        """What stands on the page, with one space between words."""
        text = self.browser.execute_script("return document.body ? document.body.innerText : ''")
        return " ".join(text.split())

    def until(self, holds: Callable[[], Any], seconds: float = PATIENCE) -> Any:
        """Waits; a page that is just being replaced is looked at again."""
        waiting = WebDriverWait(
            self.browser,
            seconds,
            poll_frequency=0.1,
            ignored_exceptions=[WebDriverException, IndexError],
        )
        return waiting.until(lambda _: holds())

    def sees(self, text: str, seconds: float = PATIENCE) -> None:
        """Waits until the page says something."""
        try:
            self.until(lambda: text in self.words, seconds)
        except WebDriverException:
            raise AssertionError(f"{self.path} does not say {text!r}: {self.words}") from None

    def find(self, how: str) -> Any:
        """An element by its XPath, once it is there."""
        return self.until(lambda: self.browser.find_element(By.XPATH, how), 20)

    def press(self, words: str) -> None:
        """A button or a link, by what stands on it; of the page before those at its head."""
        name = f"[normalize-space()={quoted(words)}]"
        self._click(f"//main//button{name}|//main//a{name}", f"//header//a{name}")

    def labelled(self, label: str) -> str:
        """The XPath of a field, by its label."""
        is_label = f"normalize-space()={quoted(label)}"
        return f"//*[@aria-label={quoted(label)}]|//*[@id=//label[{is_label}]/@for]"

    def write(self, label: str, text: str) -> None:
        """Puts a text into a field, in place of what is there, and leaves it."""

        def write() -> bool:
            field = self.browser.find_element(By.XPATH, self.labelled(label))
            field.send_keys(Keys.CONTROL + "a" + Keys.NULL, Keys.DELETE, text, Keys.TAB)
            return True

        self.until(write, 20)

    def choose(self, label: str, option: str) -> None:
        field = self.find(self.labelled(label))
        Select(field).select_by_visible_text(option)

    def tick(self, label: str) -> None:
        """A box or a choice, by how its label begins."""
        self._click(f"//label[starts-with(normalize-space(), {quoted(label)})]//input")

    def unfold(self, part: str) -> None:
        """Opens a folded part of the page, by its id, unless it is open."""
        if self.find(f"//details[@id={quoted(part)}]").get_attribute("open") is None:
            self._click(f"//details[@id={quoted(part)}]/summary")

    def _click(self, *hows: str) -> None:
        def click() -> bool:
            found = [one for how in hows for one in self.browser.find_elements(By.XPATH, how)]
            found[0].click()
            return True

        self.until(click, 20)

    def drop(self, file: Path) -> None:
        """Drops a file from outside onto the page."""
        zone = self.find("//*[@data-drop]")
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", zone)
        box = self.browser.execute_script(
            "const b = arguments[0].getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]",
            zone,
        )
        data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.browser.execute_cdp_cmd(
                "Input.dispatchDragEvent", {"type": kind, "x": box[0], "y": box[1], "data": data}
            )

    def figure(self, label: str) -> str:
        """A figure of the page, by what it says beside it."""
        how = f"//dt[normalize-space()={quoted(label)}]/following-sibling::dd[1]"
        return " ".join(self.find(how).text.split())

    def commands(self) -> list[str]:
        """The page's own "the same as a command"."""
        text = self.browser.execute_script(
            "return document.querySelector('[data-same=command]').textContent"
        )
        return str(text).splitlines()

    def fits(self) -> bool:
        """Whether nothing is wider than the window."""
        wide, seen = self.browser.execute_script(
            "const d = document.documentElement; return [d.scrollWidth, d.clientWidth]"
        )
        return bool(wide <= seen)

    def quiet(self) -> list[str]:
        """Asserts that nothing failed and nothing was asked of others; the addresses asked for."""
        assert self.browser.get_log("browser") == []
        asked = requested(self.browser)
        own = re.compile(r"http://127\.0\.0\.1:\d+/|data:|blob:")
        assert [one for one in asked if not own.match(one)] == []
        return asked
