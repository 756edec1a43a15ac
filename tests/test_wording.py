"""What shoal says in one way everywhere: verdicts and shares."""

from __future__ import annotations

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
        (0.0, "0.0 %"),
        (0.2, "20.0 %"),
        (0.2244, "22.4 %"),
        (0.0003, "0.03 %"),
        (0.005, "0.5 %"),
        (0.000001, "under 0.001 %"),
        (1.0, "100.0 %"),
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
    assert pooled_words(1, 1).startswith("1 person in 1 group: their values outside")
    assert pooled_words(1, 1).endswith("event are published as (other).")
    assert pooled_words(1_200, 34_000).startswith("34,000 people in 1,200 groups: ")


def test_the_limit_in_words() -> None:
    assert limit_words("20 %", "absolute") == "20 %"
    assert limit_words("20 %", "prior") == (
        "20 % (or what was known of the person before, if that is more)"
    )
    assert (limit_named("absolute"), limit_named("prior")) == ("", ", limit prior")


def test_how_much_people_count_as_is_bounded_in_words() -> None:
    words = weights_words(1_203)
    assert words.startswith("1,203 people in groups with an event have a weight")
    assert words.endswith("at most 1/r, or what all public counts together say.")


def test_whose_links_are_a_releases_figures() -> None:
    assert readers_of_one_view(["joint", "binary", "all-views"]) == ["joint", "binary"]
    assert readers_of_one_view(["all-views"]) == ["all-views"]


def test_numbers_that_need_not_be_whole() -> None:
    assert some(3.25) == "3.2"
