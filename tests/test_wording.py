"""What shoal says in one way everywhere: verdicts and shares."""

from __future__ import annotations

import pytest

from shoal.auditing.verdict import robustness
from shoal.wording import (
    EXIT_CODES,
    absence_words,
    counter_words,
    judges_words,
    limit_named,
    limit_words,
    open_words,
    plain_percent,
    pooled_words,
    public_absence_words,
    public_counter_words,
    readable_words,
    readers_of_one_view,
    some,
    undecided_words,
    verdict_words,
    weights_words,
)


@pytest.mark.parametrize(
    ("breach", "undecided", "contradictory", "robust", "words", "code"),
    [
        (False, False, False, True, "5-robust", 0),
        (True, False, False, False, "not 5-robust", 1),
        (True, True, True, False, "not 5-robust", 1),
        (False, True, False, None, "not shown to be 5-robust", 3),
        (False, False, True, None, "not shown to be 5-robust", 3),
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


def test_what_counting_tells_in_words() -> None:
    worst = {"described": "age 25", "event": "ill"}
    worst |= {"people": 766, "carriers": 17, "among": 20, "needed": 51}
    fails = {
        "kept": False,
        "classes": 1,
        "certain_classes": 0,
        "carriers_in_worst_view": 17,
        "certain_in_worst_view": 0,
        "carriers": 17,
        "certain": 0,
        "worst": [worst],
    }
    assert counter_words(fails, 1566) == (
        "Counting over all groups, class by class (a promise beside the verdict), links 17 of the "
        "1,566 people with an event above the limit, 0 with certainty, in 1 class. The worst: 17 "
        'carriers of "ill" among 766 people with age 25; 20 of these in question, 51 needed.'
    )
    public = public_counter_words(fails)
    assert "age 25" not in public
    assert "in 1 class, with certainty in 0; in the worst view 17 carriers, 0 with" in public
    kept = counter_words({"kept": True}, 1566)
    assert kept.endswith("or all of it, are in groups that hold it.")
    assert public_counter_words({"kept": True}) == kept
    assert some(3) == "3"
    assert some(3.25) == "3.2"


def test_what_absence_tells_in_words() -> None:
    worst = {"described": "age 25", "view": ["age"], "carriers": 3, "among": 3, "event": "ill"}
    fails = {"kept": False, "carriers": 4, "certain": 3, "classes": 2, "worst": [worst]}
    assert absence_words(fails, 5, "absolute") == (
        "Absence links 4 people with an event above the limit, 3 with certainty, in 2 classes: "
        'this alone makes the release not robust. The worst: 3 carriers of "ill" among 3 missing '
        "people with age 25."
    )
    whole = {**fails, "worst": [{**worst, "view": [], "described": "everybody"}]}
    assert absence_words(whole, 5, "absolute").endswith('of "ill" among 3 missing people.')
    assert "age 25" not in public_absence_words(fails, 5, "absolute")
    assert "4 in all" in public_absence_words(fails, 5, "absolute")
    kept = {"kept": True}
    for words in (absence_words, public_absence_words):
        assert words(kept, 0, "prior") == "Nobody is missing, so that absence tells nothing."
        assert "at most one in r carry an event" in words(kept, 5, "absolute")
        assert "one in r, or the class's own share, carry" in words(kept, 5, "prior")


def test_who_can_be_read_in_words() -> None:
    assert readable_words(0, 0, "diagnosis") == "Nobody is published with their exact diagnosis."
    assert readable_words(1, 0, ["a", "b"]) == "1 person is published with their exact value."
    assert readable_words(39_645, 6_858, "diagnosis") == (
        "39,645 people are published with their exact diagnosis; for 6,858 of them it can be read "
        "by their attributes."
    )


def test_who_is_shown_openly_in_words() -> None:
    assert open_words(0) == "Nobody is published in a group of one that shows their value."
    assert open_words(1).startswith("1 person is published in a group of one")
    assert open_words(4321).startswith("4,321 people are each published in a group of one")


def test_whose_values_are_pooled_in_words() -> None:
    assert pooled_words(1, 1).startswith("In 1 group the values outside every protected event, of")
    assert pooled_words(1, 1).endswith("of 1 person, are published as (other).")
    assert pooled_words(1_200, 34_000).startswith("In 1,200 groups")
    assert "of 34,000 people, are" in pooled_words(1_200, 34_000)


def test_the_limit_in_words() -> None:
    assert limit_words("20 %", "absolute") == "20 %"
    assert limit_words("20 %", "prior") == (
        "20 % (or what was known of the person before, if that is more)"
    )
    assert (limit_named("absolute"), limit_named("prior")) == ("", ", limit prior")


def test_how_much_people_count_as_is_bounded_in_words() -> None:
    words = weights_words(1_203)
    assert words.startswith("For counts by class 1,203 people in groups with an event")
    assert words.endswith("at most 1/r, or what all counts together said beforehand.")


def test_who_judged_and_who_is_not_convinced() -> None:
    three = ["joint", "binary", "all-views"]
    assert readers_of_one_view(three) == ["joint", "binary"]
    assert readers_of_one_view(["all-views"]) == ["all-views"]
    judged = "Judged by the joint, binary and all-views adversaries."
    assert judges_words(three) == judged
    found = {"robust": False, "problematic": 3, "missing": 1}
    for whole, words in (
        (found | {"robust": True, "problematic": 0, "missing": 0}, ""),
        (found, " Taken together, all counts make 4 people too likely (the all-views adversary)."),
        (
            found | {"problematic": 1, "missing": 0},
            " Taken together, all counts make 1 person too likely (the all-views adversary).",
        ),
        (
            found | {"robust": None},
            " Taken together, all counts could not be judged (the all-views adversary).",
        ),
    ):
        assert judges_words(three, whole) == f"{judged}{words}"
    alone = judges_words(["all-views"], found)
    assert alone.startswith("Judged by the all-views adversary. Taken together, all counts make ")
    assert judges_words(["joint"]).endswith("(the all-views adversary).")
