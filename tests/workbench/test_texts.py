"""Texts that several pages have: each is used, and pages name no other."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from shoal.workbench.rendering import on_page
from shoal.workbench.texts import TEXTS
from tests.workbench.visitor import Visitor


def sources() -> str:
    """All pages and templates."""
    root = files("shoal.workbench")
    found = [*(root / "templates").iterdir(), *(root / "pages").iterdir(), *root.iterdir()]
    return "".join(
        one.read_text("utf-8")
        for one in found
        if one.is_file() and "texts" not in one.name and one.name.endswith((".py", ".j2"))
    )


def test_every_text_that_is_named_is_there() -> None:
    named = set(re.findall(r"""\bsay\(\s*["']([a-z_.-]+)["'][,)]""", sources()))
    assert len(named) > 10
    assert named <= set(TEXTS)


def test_every_text_is_used() -> None:
    written = sources()

    def used(key: str) -> bool:
        """Named as a whole, or made of a front and what a page adds to it."""
        fronts = [key[: dot.end()] for dot in re.finditer(r"\.", key)]
        return f'"{key}"' in written or any(
            f'say("{front}" ~' in written or f"{front}{{" in written for front in fronts
        )

    assert [key for key in TEXTS if not used(key)] == []


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Give --separator ';' (in Python separator=';').", "Give “Separator” ';'."),
        ("Align them with --key COLUMN.", "Align them with “Column that aligns the rows”."),
        ("Name one: --column ward, or column='ward'.", "Name one: “column” ward."),
        ("Limit them with --max-attributes.", "Limit them with “max_attributes”."),
        ("`shoal find TABLE --spec S` tries.", "“Try what would work” tries."),
        ("Run `shoal attack` again.", "Run “Red team” again."),
        ("Ages 30--39, and 5 - 3.", "Ages 30--39, and 5 - 3."),
    ],
)
def test_messages_speak_of_fields_and_not_of_options(said: str, shown: str) -> None:
    assert on_page(said) == shown


def test_a_message_on_a_page_names_no_option(visitor: Visitor) -> None:
    (visitor.project.folder / "a.csv").write_text("age,illness\n31,flu\n40,HIV\n")
    answer = visitor.post("/table/choose", {"path": "a.csv", "separator": ";"})
    assert answer.status == 422
    assert "“Separator”" in answer.words
    assert "--separator" not in answer.text
