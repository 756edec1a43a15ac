"""What shoal says in one way everywhere: verdicts and shares, and the words it does without."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.auditing.checks import robustness
from shoal.wording import (
    EXIT_CODES,
    limit_named,
    limit_words,
    plain_percent,
    pooled_words,
    readable_words,
    readers_of_one_view,
    some,
    verdict_words,
    weights_words,
)


@pytest.mark.parametrize(
    ("breach", "undecided", "robust", "words", "code"),
    [
        (False, False, True, "5-robust", 0),
        (True, False, False, "not 5-robust", 1),
        (True, True, False, "not 5-robust", 1),
        (False, True, None, "not shown to be 5-robust", 3),
    ],
)
def test_a_verdict_and_its_words(
    breach: bool, undecided: bool, robust: bool | None, words: str, code: int
) -> None:
    verdict = robustness(breach=breach, undecided=undecided)
    assert verdict is robust
    assert verdict_words(verdict, "5-robust") == words
    assert EXIT_CODES[verdict] == code


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.2, "20 %"),
        (0.2244, "22.4 %"),
        (0.0003, "0.03 %"),
        (0.005, "0.5 %"),
        (0.000001, "under 0.001 %"),
        (1.0, "100 %"),
    ],
)
def test_shares_in_messages(share: float, text: str) -> None:
    assert plain_percent(share) == text


def test_who_can_be_read_in_words() -> None:
    assert readable_words(0, 0, "diagnosis") == "Nobody is published with their exact diagnosis."
    assert readable_words(1, 0, ["a", "b"]) == "1 person is published with their exact value."
    assert readable_words(39_645, 6_858, "diagnosis") == (
        "39,645 people are published with their exact diagnosis; for 6,858 of them it can be read "
        "by their attributes."
    )


def test_whose_values_are_pooled_in_words() -> None:
    assert pooled_words(1, 1) == (
        "1 person in 1 group has an unprotected value that is published as (other)."
    )
    assert pooled_words(1_200, 34_000).startswith("34,000 people in 1,200 groups have an ")


def test_the_limit_in_words() -> None:
    assert limit_words("20 %", "absolute") == "20 %"
    assert limit_words("20 %", "prior") == (
        "20 % (or what was known of the person before, if that is more)"
    )
    assert (limit_named("absolute"), limit_named("prior")) == ("", ", limit prior")


def test_how_much_people_count_as_is_bounded_in_words() -> None:
    words = weights_words(1_203)
    assert words.startswith("1,203 people have a weight, for estimates")
    assert words.endswith(
        "at most 1/r, or what all public statistics together say if that is more."
    )


def test_whose_links_are_a_releases_figures() -> None:
    assert readers_of_one_view(["joint", "binary", "all-views"]) == ["joint", "binary"]
    assert readers_of_one_view(["all-views"]) == ["all-views"]


def test_numbers_that_need_not_be_whole() -> None:
    assert some(3.25) == "3.2"


ROOT = Path(__file__).resolve().parents[1]
BANNED = {
    r"carriers?|carr(y|ies) an? event": "case",
    r"lookalikes?|fillers?": "similar people, partners",
    r"leanings?|its doing|openly|honest limit|oftener": "what it is",
    r"absences?": "suppression disclosure, being left out",
    r"class by class|classes? of people": "stratum",
    r"the counter|counter's": "counting",
    r"(joint|binary|all-views|every|each|both|no|one|single) readers?": "adversary",
    r"readers of (one|single|all)": "adversaries",
    r"general knowledge|public counts": "public statistics",
    r"mend(s|ed|ing)?": "correct, change",
    r"(releases?|rows?|groups?|table|it|that|they|what|which|nothing|together) tells?": "reveals",
    r"kinds? of (people|file)": "signature, format",
    r"(colour|favour|behaviour|neighbour|judgement|licence|grey)\w*": "American spelling",
    r"(recogn|organ|general|maxim|minim|summar)is(e[ds]?|ing|ation)": "American spelling",
}
"""What no text says that people read (docs/glossary.md has the words that it says)."""


def literals(source: str, *commands: str) -> Iterator[str]:
    """Texts of a program that somebody may be shown: those with a space, but for docstrings of all
    but its commands."""
    tree = ast.parse(source)
    silent: set[int] = set()
    for node in ast.walk(tree):
        if getattr(node, "name", "") not in commands:
            lines = getattr(node, "body", [])
            lines = lines if isinstance(lines, list) else []
            silent |= {id(one.value) for one in lines if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        shown = isinstance(node, ast.Constant) and id(node) not in silent
        if shown and isinstance(node.value, str) and " " in node.value.strip():
            yield " ".join(re.sub(r"\{\w*\}", "", node.value).split())


def read_by_people() -> Iterator[tuple[str, str]]:
    """Each text with where it stands: of the program, of its pages, and of the documentation."""
    for path in sorted((ROOT / "src/shoal").rglob("*.py")):
        commands = [path.stem] if path.parent.name == "cli" else []
        for text in literals(path.read_text("utf-8"), *commands):
            yield path.name, text
    for path in sorted((ROOT / "src/shoal").rglob("*.j2")):
        page = path.read_text("utf-8")
        yield path.name, re.sub(r"<[^>]*>|\{[{%].*?[%}]\}", " ", page, flags=re.DOTALL)
        for text in re.findall(r'"([^"{}<>]* [^"{}<>]*)"', page):  # attributes, and what is chosen
            yield path.name, text
    pages = [page for page in (ROOT / "docs").rglob("*.md") if "decisions" not in page.parts]
    for page in [ROOT / "README.md", *sorted(pages)]:
        text = page.read_text("utf-8")
        yield page.name, re.sub(r"`[^`\n]+`|\]\([^)]*\)|<!--.*?-->", " ", text)


def faults(text: str) -> list[str]:
    return [
        found.group()
        for pattern in BANNED
        for found in re.finditer(rf"\b({pattern})\b", text, re.IGNORECASE)
    ]


def test_words_that_nobody_knows_stand_in_no_text() -> None:
    found = [(where, fault) for where, text in read_by_people() for fault in faults(text)]
    assert found == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('raise Error("Two carriers are left.")', ["carriers"]),
        ('say(f"{n} people, by the joint reader")', ["joint reader"]),
        ('"""Of a carrier."""\nNAME = "carriers"', []),
        ('def audit():\n    """Name carriers."""', ["carriers"]),
        ('def _audit():\n    """Name carriers."""', []),
        ('TEXTS = {"a.b": "counting, class by class"}', ["class by class"]),
        ('say("shown in grey, as neighbours are")', ["grey", "neighbours"]),
    ],
)
def test_such_words_are_found(source: str, found: list[str]) -> None:
    assert [fault for text in literals(source, "audit") for fault in faults(text)] == found
