"""Keeps spreadsheets from running text as a formula, in a way that can be undone exactly.

A spreadsheet takes a cell for a formula that begins with = + or @, with - unless the whole cell is
a number, or with a tab or carriage return, also after spaces and in full-width signs. Such a text
gets an apostrophe in front; so does one that would be such a text without its own apostrophes.
Therefore taking one apostrophe from every text that looks guarded restores all texts. Numbers are
never touched, and the text -9 stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import polars as pl

MARK = "'"
_RUNS = r"^'*(?:[\t\r]|\s*[=+@\x{FF1D}\x{FF0B}\x{FF20}\x{FF0D}-])"
_NUMBER = r"^'* *-(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)? *$"


def guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with risky texts, also in the header, behind an apostrophe."""
    return _changed(frame, _guarded)


@lru_cache(maxsize=1 << 12)
def guarded_text(text: str) -> str:
    """One text as `guarded` shows it."""
    return str(pl.select(_guarded(pl.lit(text))).item())


def unguarded(frame: pl.DataFrame) -> pl.DataFrame:
    """What `guarded` was given."""
    return _changed(frame, _unguarded)


def risky_texts(column: pl.Series) -> list[str]:
    """The different texts of a column that `guarded` puts behind an apostrophe."""
    if not _is_text(column):
        return []
    texts = column.unique().cast(pl.String).drop_nulls().sort()
    return texts.to_frame("text").filter(_risky(pl.col("text")))["text"].to_list()


def _changed(frame: pl.DataFrame, change: Callable[[pl.Expr], pl.Expr]) -> pl.DataFrame:
    names = pl.DataFrame({"name": frame.columns}, schema={"name": pl.String})
    shown = names.select(change(pl.col("name"))).to_series()
    texts = [column.name for column in frame if _is_text(column) and not _stays(column, change)]
    changed = frame.with_columns(change(pl.col(name).cast(pl.String)).alias(name) for name in texts)
    return pl.DataFrame([column.alias(name) for column, name in zip(changed, shown, strict=True)])


def _stays(column: pl.Series, change: Callable[[pl.Expr], pl.Expr]) -> bool:
    """Whether none of the texts that a column may hold, where these are few, is another then."""
    if not isinstance(column.dtype, pl.Enum):
        return False
    texts = column.dtype.categories.to_frame("text")
    return texts.select(change(pl.col("text")).alias("text")).equals(texts)


def _guarded(texts: pl.Expr) -> pl.Expr:
    return pl.when(_risky(texts)).then(MARK + texts).otherwise(texts)


def _unguarded(texts: pl.Expr) -> pl.Expr:
    held = _risky(texts) & texts.str.starts_with(MARK)
    return pl.when(held).then(texts.str.slice(len(MARK))).otherwise(texts)


def _risky(texts: pl.Expr) -> pl.Expr:
    """Which texts a spreadsheet would run, or would but for the apostrophes in front."""
    return (texts.str.contains(_RUNS) & ~texts.str.contains(_NUMBER)).fill_null(False)


def _is_text(column: pl.Series) -> bool:
    return column.dtype in (pl.String, pl.Categorical, pl.Enum)
