"""`read_table`: one door for every kind of source, chosen by the name's ending or the URL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from shoal.data.sources.brought import found, named
from shoal.data.sources.columnar import ParquetFiles, read_arrow, read_excel, refuse_other
from shoal.data.sources.delimited import TextTable, plain, read_delimited
from shoal.data.sources.formats import KINDS
from shoal.data.sources.guard import unguarded
from shoal.data.sources.numbers import typed
from shoal.data.spec import Codebook
from shoal.data.storage.location import check_readable, parse_url
from shoal.errors import InputError
from shoal.names import Reading


def read_table(
    source: str | Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    columns: Sequence[str] | None = None,
    sheet: str | None = None,
    as_text: bool = False,
    unguard: bool = False,
) -> pl.DataFrame:
    """A table from a file, a folder of Parquet files, a database, or wherever else tables lie.

    A pattern such as `part-*.csv` is one table of all files that it matches, `-` what is piped in;
    `https://`, `s3://`, `gs://` and `az://` are fetched; what is compressed (.zip, .gz, .zst) is
    unpacked. Text files (.csv, .tsv, .txt) are UTF-8 unless `encoding` says otherwise, split at
    the separator that fits best unless `separator` is given, and typed column by column: a
    column of numbers becomes numeric, `decimal` being the sign before their decimals if that is
    not to be seen; a code such as 00123 stays text, an empty cell is missing; with `as_text` every
    cell stays as it is written.
    `unguard` takes back what `write_table` did to text that a spreadsheet would run as a formula.
    `sheet` chooses among the sheets of an Excel file and the files in a zip archive, `columns`
    among the columns of anything.

    >>> import shoal
    >>> from pathlib import Path
    >>> _ = Path("people.csv").write_text("age;ward\\n31;00123\\n;B\\n", encoding="utf-8")
    >>> shoal.read_table("people.csv").rows()
    [(31, '00123'), (None, 'B')]
    """
    wanted = [columns] if isinstance(columns, str) else columns
    with named():
        there = found(source, sheet)
        kind, files = there.kind, there.files
        refuse_unused(
            kind,
            separator=separator,
            encoding=encoding,
            decimal=decimal,
            as_text=as_text,
            unguard=unguard,
            sheet=None if there.packed else sheet,
        )
        if kind == "database":
            from shoal.data.sources.database import read_database

            url = parse_url(str(source))
            assert url is not None
            return plain(read_database(url, wanted))
        if kind == "folder":
            return plain(ParquetFiles.of(files).read(wanted))
        for file in files:
            check_readable(file)
            if file.stat().st_size == 0:
                raise InputError(
                    "file-empty", f'"{file}" is empty.', "Give a table with a header row."
                )
        if kind == "parquet":
            return plain(ParquetFiles.of(files, there.base).read(wanted))
        if kind == "text":
            tables = [TextTable.of(file, separator, encoding) for file in files]
            refuse_other([table.names for table in tables], source)
            frame = pl.concat([read_delimited(table, wanted) for table in tables], rechunk=False)
            if not as_text:
                frame = typed(frame, decimal=decimal, separator=tables[0].separator)
            return unguarded(frame) if unguard else frame
        if kind in KINDS:
            from shoal.data.sources.statistical import read_statistical

            return read_statistical(files, wanted, encoding, source)
        if kind == "json":
            from shoal.data.sources.json_lines import read_json_lines

            frames = [read_json_lines(file, wanted, encoding) for file in files]
        elif kind == "excel":
            frames = [read_excel(file, wanted, sheet) for file in files]
        else:
            frames = [read_arrow(file, wanted) for file in files]
        refuse_other([list(frame.schema.items()) for frame in frames], source)
        return plain(pl.concat(frames, rechunk=False))


def read_codebook(
    source: Any, columns: Sequence[str] | None = None, **reading: Unpack[Reading]
) -> Codebook:
    """What the files of a statistics program say of the columns that they hold; nothing of other
    sources. Labels are told of a column where all of its values but missing ones have one, missing
    codes if they occur.

    >>> import shoal
    >>> _ = shoal.datasets.hospital(100, seed=0).write_csv("hospital.csv")
    >>> read_codebook("hospital.csv")
    {}
    """
    if not isinstance(source, str | Path):
        return {}
    with named():
        try:
            there = found(source, reading.get("sheet"))
        except InputError:  # an engine's own address, or whoever reads it says what is wrong
            return {}
        if there.kind not in KINDS:
            return {}
        from shoal.data.sources.statistical import codebook

        return codebook(there.files, columns, reading.get("encoding"), source)


_MEANT = {"sheet": ("excel",), "encoding": ("text", "json", *KINDS)}
"""The kinds of files that an option says something of; if not here, it is text."""


def refuse_unused(kind: str, **given: str | bool | None) -> None:
    """An InputError for an option that says nothing of a source of this kind."""
    for option, value in given.items():
        if value not in (None, False) and kind not in _MEANT.get(option, ("text",)):
            what = "workbooks and zip archives" if option == "sheet" else "text files such as CSV"
            raise InputError(
                "option-unused", f"{option} has a meaning for {what} only.", "Leave it out."
            )
