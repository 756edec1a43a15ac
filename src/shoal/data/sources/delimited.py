"""Text tables (CSV and its kin): decoded and split, or refused with the place to correct."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data.sources.formats import is_tabbed
from shoal.data.sources.text import COPIES, REMEDY, TEXT, TextFile
from shoal.errors import InputError, unknown
from shoal.memory import refuse_memory

SEPARATORS = (",", ";", "\t", "|")
SAMPLE = 1 << 16
HEADER = 1 << 20
MOST_COLUMNS = 50_000
"""Tables of people have fewer; a file of commas has more, and takes minutes."""
BLOCK = 1 << 20
LARGEST_BLOCK = (1 << 31) - 1
STREAMED = 1 << 24
"""Bytes that are split at a time where rows are read again and again; a row may be as long."""


def read_delimited(table: TextTable, columns: Sequence[str] | None) -> pl.DataFrame:
    """A text table as a frame of text; `typed` finds the numbers in it."""
    from pyarrow import ArrowInvalid

    path, encoding, wanted = table.path, table.encoding, columns or table.names
    block = BLOCK
    while True:
        # Piece by piece, so that the table is never in memory in two forms.
        pieces, taken = [pl.DataFrame(schema=dict.fromkeys(wanted, pl.String))], 0
        with TextFile(path, encoding, whole=True) as file:
            try:
                for frame in table.split(file, wanted, block):
                    pieces.append(frame)
                    taken += int(frame.estimated_size()) + TEXT * frame.height * frame.width
                    needed = max(file.size + taken, COPIES * taken)
                    refuse_memory(needed, f'To read "{path}"', REMEDY)
                return pl.concat(pieces, rechunk=False)
            except ArrowInvalid:  # a row longer than a block
                if block > file.size or block == LARGEST_BLOCK:
                    raise _no_rows(path) from None
        block = min(16 * block, LARGEST_BLOCK)


@dataclass(frozen=True)
class TextTable:
    """A text table whose header was read."""

    path: Path
    encoding: str | None
    separator: str
    names: list[str]

    @classmethod
    def of(cls, path: Path, separator: str | None, encoding: str | None) -> TextTable:
        with TextFile(path, encoding) as file:
            head = file.read(HEADER)
        if not head.strip():
            raise InputError("file-empty", f'"{path}" is empty.', "Give a table with a header row.")
        return cls(path, encoding, *header_of(head, separator, path))

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Some columns, some rows after the other, every cell as text."""
        from pyarrow import ArrowInvalid

        with TextFile(self.path, self.encoding) as file:
            try:
                yield from self.split(file, columns, STREAMED)
            except ArrowInvalid:
                raise _no_rows(self.path) from None

    def split(self, file: TextFile, columns: Sequence[str], block: int) -> Iterator[pl.DataFrame]:
        """Some columns of the file, so many bytes at a time; an InputError for rows of another
        length than the header, and for a quotation mark that is never closed."""
        check_columns(columns, self.names)
        bad: list[Any] = []
        last = None
        with self._reader(file, columns, block, bad) as reader:
            for batch in reader:
                self._refuse_ragged(bad)
                frame = pl.DataFrame(batch)
                last = frame[self.names[-1]][-1] if frame.height else last
                yield frame.select(columns)
        self._refuse_ragged(bad)
        # The parser takes an open mark to run to the end: this is then the last cell, or all of it
        # that is at hand.
        opened = b'"' + (last or "").replace('"', '""').encode()
        if last and (file.tail.endswith(opened) or opened.endswith(file.tail)):
            start = file.lines - last.rstrip("\n").count("\n")
            raise InputError(
                "csv-rows",
                f'Line {start} of "{self.path}" opens a quotation mark that is never closed.',
                "Close it, or double it if it belongs to the text.",
            )

    def _reader(self, file: TextFile, columns: Sequence[str], block: int, bad: list[Any]) -> Any:
        """`bad` takes the rows of another length, which are left out."""
        from pyarrow import csv as arrow_csv
        from pyarrow import string

        def skip(row: arrow_csv.InvalidRow) -> str:
            bad.append(row)
            return "skip"

        # In one thread, which is as fast here and knows the numbers of rows.
        return arrow_csv.open_csv(
            file,
            read_options=arrow_csv.ReadOptions(
                column_names=self.names,
                skip_rows_after_names=1,
                block_size=block,
                use_threads=False,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.separator,
                newlines_in_values=True,
                ignore_empty_lines=len(self.names) > 1,
                invalid_row_handler=skip,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(self.names, string()),
                # The last column in any case: an open quotation mark ends up there.
                include_columns=list(dict.fromkeys([*columns, self.names[-1]])),
                strings_can_be_null=True,
                null_values=[""],
            ),
        )

    def _refuse_ragged(self, bad: Sequence[Any]) -> None:
        if bad:
            raise InputError(
                "csv-rows",
                f'Row {bad[0].number} of "{self.path}" is of length {bad[0].actual_columns}, the '
                f"header (row 1) of length {len(self.names)}.",
                "Correct that row; a cell that holds the separator stands in quotation marks.",
            )


def _no_rows(path: Path) -> InputError:
    return InputError(
        "csv-damaged",
        f'"{path}" cannot be split into rows: it is damaged, or no text table.',
        "Export it again as CSV.",
    )


def header_of(data: bytes, separator: str | None, path: Path) -> tuple[str, list[str]]:
    """The separator and the names of the columns, from the beginning of a file."""
    text = data.decode(errors="ignore")
    chosen = _sniffed(text, path) if separator is None else separator
    if len(chosen) != 1 or not chosen.isascii() or chosen in '"\r\n':
        raise InputError(
            "separator",
            f"The separator is {chosen!r}.",
            "Give one sign, such as a comma, a semicolon or a tab.",
        )
    names = _header(text, chosen, path)
    others = [other for other in SEPARATORS if other != chosen and other in names[0]]
    if separator is not None and len(names) == 1 and others:
        raise InputError(
            "separator",
            f'Split at {separator!r}, "{path}" has only one column, and its header holds '
            f"{others[0]!r}.",
            f"Give --separator {others[0]!r} (in Python separator={others[0]!r}), or leave it out.",
        )
    return chosen, names


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Decimals as 64-bit numbers: whole if they have no digits after the point and fit."""
    changed = []
    for column in frame:
        if isinstance(column.dtype, pl.Decimal):
            whole = column.cast(pl.Int64, strict=False) if column.dtype.scale == 0 else None
            fits = whole is not None and whole.null_count() == column.null_count()
            changed.append(whole if whole is not None and fits else column.cast(pl.Float64))
    return frame.with_columns(changed)


def check_columns(columns: Sequence[str], names: Sequence[str]) -> None:
    """An InputError for a column that is asked for and does not exist."""
    for name in columns:
        if name not in names:
            raise unknown("column-missing", f'The column "{name}" does not exist', name, names)


def _sniffed(text: str, path: Path) -> str:
    """The separator that splits the first rows into most columns, all rows alike if possible."""
    sample, cut = text[:SAMPLE], len(text) > SAMPLE
    best, best_rank = ",", (False, 1)
    for separator in SEPARATORS:
        widths = [len(row) for row in _rows(sample, separator) if row]
        if cut and len(widths) > 1:
            widths.pop()
        rank = (len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0)
        if rank > best_rank or (rank == best_rank and is_tabbed(path) and separator == "\t"):
            best, best_rank = separator, rank
    return best


def _rows(text: str, separator: str, *, strict: bool = False) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict)


def _header(text: str, separator: str, path: Path) -> list[str]:
    try:
        names = next(row for row in _rows(text, separator, strict=True) if row)
    except csv.Error:
        raise InputError(
            "csv-header",
            f'The quotation marks in the header of "{path}" do not match.',
            "Begin the file with one row that names its columns.",
        ) from None
    if len(names) > MOST_COLUMNS:
        raise InputError(
            "csv-header",
            f'The header of "{path}" has {len(names):,} columns, more than {MOST_COLUMNS:,}.',
            "Give a table with fewer columns, and its header in one row.",
        )
    refuse_twice([name for name in names if name], path)
    taken = set(names)
    return [name or _unnamed(position, taken) for position, name in enumerate(names, start=1)]


def refuse_twice(names: Sequence[str], path: Path) -> None:
    """An InputError if two columns have the same name."""
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise InputError(
            "header-twice",
            f'"{path}" has two columns named "{twice}".',
            "Give each column a name of its own.",
        )


def _unnamed(position: int, names: set[str]) -> str:
    name = f"column_{position}"
    return name if name not in names else _unnamed(position + len(names), names)
