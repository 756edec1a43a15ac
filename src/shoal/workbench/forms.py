"""What was typed into a form, as values."""

from __future__ import annotations


def number_or_text(text: str) -> int | float | str:
    """A number where the text is one; otherwise the text as typed, for the spec to refuse."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if value == value and abs(value) != float("inf") else text
    return text
