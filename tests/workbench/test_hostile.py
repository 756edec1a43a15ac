"""A hostile table: its values are text everywhere, in no log and in no address."""

from __future__ import annotations

import threading
import time
from html.parser import HTMLParser

import pytest

from shoal.workbench.held import key_of
from tests.workbench.visitor import Visitor

BREAKOUT = "</script><script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(1)>"
FORMULA = "=HYPERLINK(0)"
TURNED = "\u202edrawkcab"
LONG = "x" * 10_000
SECRET = "Wintermute's syndrome"
HOSTILE = (BREAKOUT, IMAGE, FORMULA, TURNED, LONG, SECRET, '"><svg onload=alert(1)>', "{{ 7*7 }}")


def hostile_table() -> bytes:
    """Every value in a QI and in the sensitive column, and one as a column's name."""
    quoted = ['"' + value.replace('"', '""') + '"' for value in HOSTILE]
    head = f'age,"{IMAGE}",diagnosis\n'
    rows = [f"{30 + n % 9},{quoted[n % 8]},{quoted[(n // 8) % 8]}\n" for n in range(400)]
    return (head + "".join(rows)).encode()


class Tags(HTMLParser):
    """The elements of a page, as a browser finds them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    @classmethod
    def of(cls, page: str) -> list[tuple[str, dict[str, str]]]:
        reader = cls()
        reader.feed(page)
        return reader.found


@pytest.fixture
def hostile(visitor: Visitor) -> Visitor:
    assert visitor.send("hostile.csv", hostile_table()).status == 303
    visitor.project.write_draft(
        {"qi": ["age", IMAGE], "sensitive": "diagnosis", "r": 2, "min_support": 20,
         "protect": [{"values": [SECRET, BREAKOUT]}, {"values": [LONG]}]}
    )  # fmt: skip
    return visitor


def test_values_are_text_on_every_page(hostile: Visitor) -> None:
    for path in ("/table", "/roles", "/roles/known", "/plan", "/run", "/audit"):
        answer = hostile.get(path)
        assert answer.status == 200, path
        assert "\u202e" not in answer.text
        for tag, attributes in Tags.of(answer.text):
            assert tag != "img"
            assert tag != "script" or attributes["src"].startswith("/static/")
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
    assert "&lt;/script&gt;" in hostile.get("/roles").text
    assert "⟨U+202E⟩" in hostile.get("/table").text


def test_long_cells_are_cut_where_they_are_shown(hostile: Visitor) -> None:
    for path in ("/table", "/roles/known"):
        assert "10,000 characters" in hostile.get(path).text
        assert "x" * 1_000 not in hostile.get(path).text


def test_hostile_values_can_be_picked(hostile: Visitor) -> None:
    key = key_of("diagnosis")
    ticks = [(f"tick-{key}", key_of(value)) for value in (TURNED, FORMULA)]
    assert hostile.post("/roles", [*ticks, ("do", f"add:{key}")]).status == 303
    assert set(hostile.project.draft["protect"][-1]["values"]) == {TURNED, FORMULA}


def test_values_stand_in_no_address_and_no_log(
    hostile: Visitor, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("/table", "/roles", "/plan", "/run"):
        for _, attributes in Tags.of(hostile.get(path).text):
            for name in ("href", "action", "src", "hx-get", "hx-post"):
                address = attributes.get(name, "")
                assert not any(value[:12] in address for value in HOSTILE), address

    def fail(*_: object) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr("shoal.workbench.pages.roles.known_before", fail)
    assert hostile.get("/roles/known").status == 500
    hostile.post("/roles", [("search", SECRET), ("do", "search")])
    told = capfd.readouterr()
    assert "ValueError" in told.err
    assert "Wintermute" not in told.err + told.out


def test_many_requests_at_once_are_answered(hostile: Visitor) -> None:
    hostile.get("/roles")
    took: list[float] = []

    def ask() -> None:
        for path in ("/", "/runs", "/static/page.css", "/table"):
            started = time.monotonic()
            assert hostile.get(path).status == 200
            took.append(time.monotonic() - started)

    threads = [threading.Thread(target=ask) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(took) == 200
    assert max(took) < 10
