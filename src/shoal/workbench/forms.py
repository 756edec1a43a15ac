"""Which field an error of the catalogue is about, so that it is said beside it."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.errors import InputError, ShoalError

TOP = "top"
"""The place of errors that no field is to blame for."""


def beside(error: ShoalError | None, fields: Mapping[str, str]) -> dict[str, ShoalError]:
    """The error by the field that it is about. `fields` has codes, or beginnings of them with a
    hyphen at the end, and the field of each."""
    if error is None:
        return {}
    code = error.code if isinstance(error, InputError) else ""
    if code in fields:
        return {fields[code]: error}
    front = next((one for one in fields if one.endswith("-") and code.startswith(one)), None)
    return {fields[front] if front is not None else TOP: error}


def number_or_text(text: str) -> int | float | str:
    """A number where the text is one; otherwise the text as typed, for the spec to refuse."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if value == value and abs(value) != float("inf") else text
    return text
