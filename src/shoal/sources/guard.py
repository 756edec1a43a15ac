"""Keeps spreadsheets from running text as a formula, in a way that can be undone exactly.

A text that begins with = + - @ tab or carriage return, after any number of apostrophes, gets one
more apostrophe in front. Because texts that look guarded already are guarded again, removing one
apostrophe restores every text. Numbers are never touched.
"""

from __future__ import annotations

import re

import polars as pl

_RISKY = "^('*[=+@\t\r-])"
_GUARDED = "^'('*[=+@\t\r-])"


def guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with risky texts, also in the header, behind an apostrophe."""
    return _replaced(frame, _RISKY, "'$1")


def guarded_text(text: str) -> str:
    """One text as `guarded` shows it."""
    return re.sub(_RISKY, r"'\1", text)


def unguarded(frame: pl.DataFrame) -> pl.DataFrame:
    """What `guarded` was given."""
    return _replaced(frame, _GUARDED, "$1")


def _replaced(frame: pl.DataFrame, pattern: str, new: str) -> pl.DataFrame:
    texts = [
        column.cast(pl.String).str.replace(pattern, new)
        for column in frame
        if column.dtype in (pl.String, pl.Categorical, pl.Enum)
    ]
    changed = frame.with_columns(texts)
    changed.columns = pl.Series(frame.columns, dtype=pl.String).str.replace(pattern, new).to_list()
    return changed
