"""What becomes of a person's rows, as `rows_per_person` says it."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from shoal.errors import InputError

ROWS_OF_PERSON = "rows_of_person"
"""The QI that tells how many rows a person has, where the table has no column of that name."""
RULES = '"all", "first", "first 3", "last by COLUMN" or "event"'
_FIRST = re.compile(r"first(?: ([1-9]\d{0,5}))?", re.ASCII)


class RowRule(NamedTuple):
    """Which rows of a person are kept."""

    kind: Literal["all", "first", "last", "event"]
    most: int | None
    """So many of each; None: all."""
    by: str | None = None
    """The column whose largest value is last."""

    @classmethod
    def parse(cls, text: object) -> RowRule:
        """From what a spec says; an InputError if it is not understood."""
        rule = text.strip() if isinstance(text, str) else ""
        if found := _FIRST.fullmatch(rule):
            return cls("first", int(found[1] or 1))
        if rule.startswith("last by ") and (by := rule.removeprefix("last by ").strip()):
            return cls("last", 1, by)
        if rule in ("all", "event"):
            return cls("all", None) if rule == "all" else cls("event", 1)
        raise InputError(
            "rows-per-person", f"rows_per_person is {text!r}.", f"Write it as {RULES}."
        )

    @property
    def words(self) -> str:
        """What is kept, after "of each person"."""
        if self.kind == "event":
            return (
                "the first row, with the sensitive value of the first row that has a protected one"
            )
        if self.kind == "last":
            return f'the last row by "{self.by}"'
        if self.kind == "first":
            return "the first row" if self.most == 1 else f"the first {self.most} rows"
        return "all rows"
