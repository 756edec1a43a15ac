"""Files of SPSS, Stata and SAS, through pyreadstat, and what they say of their columns.

A table holds the codes that a file holds. Labels, missing codes and measures come as a codebook
beside it, from which a spec takes what it does not say itself (`Spec.described`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import polars as pl

from shoal.data.sources.columnar import refuse_other, whole
from shoal.data.sources.delimited import check_columns
from shoal.data.sources.text import COPIES, REMEDY, TEXT, text_decoder
from shoal.data.sources.weighed import foreign_failures
from shoal.data.spec import Codebook, Variable
from shoal.data.table.coding import code_column
from shoal.errors import InputError, missing_extra
from shoal.memory import refuse_memory

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
BYTE = 8
RECORD = 80
"""A transport file of SAS is made of records of so many bytes."""


def read_statistical(
    files: Sequence[Path], columns: Sequence[str] | None, encoding: str | None, source: str | Path
) -> pl.DataFrame:
    """The codes of files that are one table; numbers are whole where all of a column are."""
    return _together(files, columns, encoding, source)[0]


def codebook(
    files: Sequence[Path], columns: Sequence[str] | None, encoding: str | None, source: str | Path
) -> Codebook:
    """What they say of their columns."""
    frame, said = _together(files, columns, encoding, source)
    return {column.name: _variable(column, said) for column in frame}


def _together(
    files: Sequence[Path], columns: Sequence[str] | None, encoding: str | None, source: str | Path
) -> tuple[pl.DataFrame, Any]:
    """The table, and what the first of its files says of it."""
    read = [read_file(file, columns, encoding) for file in files]
    refuse_other([list(frame.schema.items()) for frame, _ in read], source)
    frame = pl.concat([frame for frame, _ in read], rechunk=False)
    return frame.with_columns(whole(one) for one in frame if one.dtype == pl.Float64), read[0][1]


def _variable(column: pl.Series, said: Any) -> Variable:
    name = column.name
    coded = code_column(column)[0]
    codes = dict(zip(coded.labels, coded.values.to_list(), strict=True))
    ranges = said.missing_ranges.get(name, [])
    missing = [
        text
        for text, code in codes.items()
        if code is not None and any(one["lo"] <= code <= one["hi"] for one in ranges)
    ]
    of_kind = {
        code: label
        for code, label in said.variable_value_labels.get(name, {}).items()
        if isinstance(code, str) != column.dtype.is_numeric()
    }
    given = {_text(code, column): " ".join(of_kind[code].split()) for code in sorted(of_kind)}
    labels = {code: label for code, label in given.items() if label and code not in missing}
    told = {text for text, code in codes.items() if code is not None} - {*missing}
    return Variable(
        title=" ".join((said.column_names_to_labels.get(name) or "").split()),
        labels=tuple(_apart(labels).items()) if told and told <= labels.keys() else (),
        missing=tuple(missing),
        measure=said.variable_measure.get(name, "unknown") if coded.numeric else "unknown",
    )


def _text(code: Any, column: pl.Series) -> str:
    """A code as the table shows it."""
    shown = pl.Series([code], dtype=pl.Float64 if column.dtype.is_numeric() else pl.String)
    return code_column(shown)[0].labels[0]


def _apart(labels: dict[str, str]) -> dict[str, str]:
    """Labels that several codes share are told apart by these."""
    shared = {one for one in labels.values() if list(labels.values()).count(one) > 1}
    return {
        code: f"{label} ({code})" if label in shared else label for code, label in labels.items()
    }


def read_file(
    path: Path, columns: Sequence[str] | None, encoding: str | None
) -> tuple[pl.DataFrame, Any]:
    """The columns of a file, and all that it says of them."""
    try:
        import pyreadstat
    except ImportError:
        raise missing_extra(f"A {path.suffix} file", "pyreadstat") from None
    read = getattr(pyreadstat, READERS[path.suffix.lower()])
    how: dict[str, Any] = {"output_format": "polars", "encoding": encoding}
    if encoding is not None:
        text_decoder(encoding)
    with _failures(path, encoding):
        said = read(str(path), metadataonly=True, **how)[1]
        check_columns(columns or [], said.column_names)
        wanted = list(columns or said.column_names)
        widths = said.variable_storage_width
        cells = sum(max(BYTE, widths.get(name) or BYTE) + TEXT for name in wanted)
        refuse_memory(COPIES * cells * (said.number_rows or 0), f'To read "{path}"', REMEDY)
        if read is pyreadstat.read_sav:  # others have no codes for missing values, but marks
            how["user_missing"] = True
        frame, said = read(str(path), usecols=wanted, **how)
        made = cast(pl.DataFrame, frame).select(wanted)
        for column in made:
            if column.dtype.is_temporal():
                column.min(), column.max()  # fails for what is beyond all dates
        if read is pyreadstat.read_xport and path.stat().st_size % RECORD:
            raise ValueError("cut short, which nothing else in such a file says")
    return made, said


@contextmanager
def _failures(path: Path, encoding: str | None) -> Iterator[None]:
    """Turns what the library raises over a file into one sentence."""
    damaged = InputError(
        "file-damaged",
        f'"{path}" cannot be read as {path.suffix}: it is damaged, cut short or something else.',
        "Copy or export it again.",
    )
    with foreign_failures(damaged):
        try:
            yield
        except (InputError, MemoryError):
            raise
        except Exception as error:
            if not isinstance(error, UnicodeError) and "encoding" not in str(error):
                raise damaged from None
            raise InputError(
                "encoding",
                f'The text in "{path}" is not in the encoding {encoding or "that it names"}.',
                'Give --encoding cp1252 (in Python encoding="cp1252"), or what it was written in.',
            ) from None
