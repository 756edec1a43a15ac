"""Tables for SPSS and Stata: texts as numbers with labels, always the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data.sources.statistical import read_file
from shoal.errors import missing_extra

LONGEST = 120
"""So many bytes of a label SPSS shows."""
LARGEST = (1 << 31) - 100
"""Of whole numbers that Stata keeps as such."""
Codes = Mapping[str, int]
"""The numbers that stand for texts."""


def codes_of(texts: pl.Series, known: Codes) -> Codes:
    """The numbers of a column's texts: those that are known, and for others the next ones in
    alphabetical order. None at all if a text is too long for a label."""
    told = texts.cast(pl.String).unique().drop_nulls().sort()
    if (told.str.len_bytes() > LONGEST).any() or (told.str.contains(r"\p{C}|^\s|\s$")).any():
        return {}
    new = (text for text in told if text not in known)
    start = max(known.values(), default=0) + 1
    numbers = dict(known) | {text: number for number, text in enumerate(new, start=start)}
    return {text: numbers[text] for text in told}


def write_labelled(
    frame: pl.DataFrame, path: Path, *, codes: Mapping[str, Codes], titles: Mapping[str, str]
) -> None:
    """Writes a frame whose names are names in such programs too; columns with codes as these."""
    try:
        import pyreadstat
    except ImportError:
        raise missing_extra(f"A {path.suffix} file", "pyreadstat") from None
    columns = [_plain(column, codes.get(column.name, {})) for column in frame]
    told: dict[str, Any] = {
        "column_labels": {name: title for name, title in titles.items() if name in frame.columns},
        "variable_value_labels": {
            name: {number: text for text, number in one.items()}
            for name, one in codes.items()
            if one and name in frame.columns
        },
    }
    if path.suffix == ".dta":
        pyreadstat.write_dta(pl.DataFrame(columns), str(path), version=14, **told)
        _overwrite(path, b"<timestamp>\x11", b"01 Jan 1970 00:00")
    else:
        measures = {one.name: "nominal" if codes.get(one.name) else "scale" for one in frame}
        pyreadstat.write_sav(pl.DataFrame(columns), str(path), variable_measure=measures, **told)
        _overwrite(path, b"", b"01 Jan 7000:00:00", at=92)


def _plain(column: pl.Series, codes: Codes) -> pl.Series:
    """A column of types that files have, the same for the same values."""
    if codes:
        return column.cast(pl.String).replace_strict(codes, return_dtype=pl.Int32)
    if column.dtype.is_integer():
        largest = column.abs().max()
        short = largest is None or int(largest) <= LARGEST  # type: ignore[arg-type]
        return column.cast(pl.Int32 if short else pl.Float64)
    if column.dtype.is_numeric():
        return column.cast(pl.Float64)
    return column if column.dtype.is_temporal() else column.cast(pl.String)


def _overwrite(path: Path, mark: bytes, time: bytes, at: int = 0) -> None:
    """Puts a fixed time where files say when they were written."""
    with path.open("r+b") as file:
        start = file.read(1 << 10)
        file.seek((start.index(mark) if mark else at) + len(mark))
        file.write(time)


def read_labelled(path: Path) -> pl.DataFrame:
    """Such a file, with texts in place of numbers that have labels; numbers are floats."""
    frame, said = read_file(path, None, None)
    labels = said.variable_value_labels
    return frame.with_columns(
        frame[name].replace_strict(labels[name], default=None, return_dtype=pl.String)
        if name in labels
        else frame[name].set(frame[name] == "", None)
        if frame[name].dtype == pl.String
        else frame[name]
        for name in frame.columns
    )
