"""Texts that look alike."""

from __future__ import annotations

import pytest

from shoal.data.table.alike import skeleton, strange_signs


@pytest.mark.parametrize(
    "twin",
    [
        "hiv",
        " HIV  ",
        "H\u0406V",  # Cyrillic I
        "\u041dIV",  # Cyrillic En
        "\u0397\u0399V",  # Greek Eta and Iota
        "HI\u03bd",  # Greek small nu
        "H\u200bIV",  # zero-width space
        "HIV\ufeff",
        "\u202eHIV",
        "HI\ufe0fV",
        "\uff28\uff29\uff36",  # full-width
        "HIV\u00a0",
    ],
)
def test_twins_of_hiv(twin: str) -> None:
    assert skeleton(twin) == "hiv"


def test_composed_and_decomposed_letters_are_one() -> None:
    assert skeleton("Sjo\u0308gren") == skeleton("Sj\u00f6gren")
    assert skeleton("non\u2011viral\u00a0type") == skeleton("non-viral type")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sjögren", "Sjogren"),
        ("HIV1", "HIV2"),
        ("ж", "x"),
        ("हिंदी", "हदी"),
        ("Strauß", "Straub"),
    ],
)
def test_accents_and_other_scripts_tell_apart(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


def test_case_counts_for_nothing_in_any_script() -> None:
    for text in ("ВИЧ", "Νίκος", "Straße", "İZMİR"):
        assert skeleton(text) == skeleton(text.lower())


def test_what_is_strange_is_named() -> None:
    assert strange_signs("\u041dIV\u200b") == [
        "U+041D CYRILLIC CAPITAL LETTER EN",
        "U+200B ZERO WIDTH SPACE",
    ]
    assert strange_signs("Sjögren 1") == []
