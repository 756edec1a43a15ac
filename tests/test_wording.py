"""What shoal says in one way everywhere: verdicts and shares."""

from __future__ import annotations

import pytest

from shoal.auditing.verdict import robustness
from shoal.wording import EXIT_CODES, plain_percent, undecided_words, verdict_words


@pytest.mark.parametrize(
    ("breach", "undecided", "contradictory", "robust", "words", "code"),
    [
        (False, False, False, True, "5-robust", 0),
        (True, False, False, False, "not 5-robust", 1),
        (True, True, True, False, "not 5-robust", 1),
        (False, True, False, None, "not shown to be 5-robust", 2),
        (False, False, True, None, "not shown to be 5-robust", 2),
    ],
)
def test_a_verdict_and_its_words(
    breach: bool, undecided: bool, contradictory: bool, robust: bool | None, words: str, code: int
) -> None:
    verdict = robustness(breach=breach, undecided=undecided, contradictory=contradictory)
    assert verdict is robust
    assert verdict_words(verdict, "5-robust") == words
    assert EXIT_CODES[verdict] == code


def test_the_undecided() -> None:
    assert undecided_words("7 people") == "7 people could not be decided"


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
