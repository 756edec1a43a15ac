"""`read_table`: one door for every kind of source, chosen by the name's ending or the URL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from shoal.data.sources.columnar import read_arrow, read_excel, read_parquet
from shoal.data.sources.delimited import plain, read_delimited, typed
from shoal.data.sources.guard import unguarded
from shoal.data.storage.location import check_readable, parse_url, redact
from shoal.errors import InputError

TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".ipc", ".feather")
EXCEL = (".xlsx",)


def read_table(
    source: str | Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    columns: Sequence[str] | None = None,
    sheet: str | None = None,
    as_text: bool = False,
    unguard: bool = False,
) -> pl.DataFrame:
    """A table from a file, a folder of Parquet files, or a database.

    Text files (.csv, .tsv, .txt, also .gz) are UTF-8 unless `encoding` says otherwise, split at
    the separator that fits best unless `separator` is given, and typed column by column: a
    column of numbers becomes numeric, a code such as 00123 stays text, an empty cell is missing;
    with `as_text` every cell stays as it is written.
    `unguard` takes back what `write_table` did to text that a spreadsheet would run as a formula.
    `sheet` chooses among the sheets of an Excel file, `columns` among the columns of anything.

    >>> import shoal
    >>> from pathlib import Path
    >>> _ = Path("people.csv").write_text("age;ward\\n31;00123\\n;B\\n", encoding="utf-8")
    >>> shoal.read_table("people.csv").rows()
    [(31, '00123'), (None, 'B')]
    """
    wanted = [columns] if isinstance(columns, str) else columns
    kind = source_kind(source)
    refuse_unused(
        kind,
        separator=separator,
        encoding=encoding,
        as_text=as_text,
        unguard=unguard,
        sheet=sheet,
    )
    if kind == "database":
        from shoal.data.sources.database import read_database

        url = parse_url(str(source))
        assert url is not None
        return plain(read_database(url, wanted))
    path = Path(source)
    if kind == "folder":
        return plain(read_parquet(path, wanted))
    check_readable(path)
    if path.stat().st_size == 0:
        raise InputError("file-empty", f'"{path}" is empty.', "Give a table with a header row.")
    if kind == "text":
        frame = read_delimited(path, separator=separator, encoding=encoding, columns=wanted)
        frame = frame if as_text else typed(frame)
        return unguarded(frame) if unguard else frame
    if kind == "excel":
        return plain(read_excel(path, wanted, sheet))
    return plain((read_arrow if kind == "arrow" else read_parquet)(path, wanted))


def source_kind(source: str | Path) -> str:
    """What a source is: database, folder, text, parquet, arrow or excel."""
    if parse_url(str(source)) is not None:
        return "database"
    path = Path(source)
    try:
        if path.is_dir():
            return "folder"
    except PermissionError:  # the folder that it lies in is closed
        check_readable(path)
    known = file_kind(path)
    if known is None:
        check_readable(path)  # that a file is missing comes first
        raise unknown_kind(path)
    return known


def file_kind(path: Path) -> str | None:
    """What a file of that name holds: text, parquet, arrow or excel; None if unknown."""
    ending = path.suffix.lower()
    if ending == ".gz":
        return "text" if path.with_suffix("").suffix.lower() in TEXT else None
    kinds = {"text": TEXT, "parquet": PARQUET, "arrow": ARROW, "excel": EXCEL}
    return next((kind for kind, endings in kinds.items() if ending in endings), None)


def unknown_kind(path: Path) -> InputError:
    """The error for a name whose ending says nothing."""
    return InputError(
        "file-kind",
        f'The name "{redact(path)}" does not say what kind of file it is.',
        "Known endings: .csv, .tsv, .txt (also .gz), .parquet, .arrow, .feather, .xlsx.",
    )


def refuse_unused(kind: str, **given: str | bool | None) -> None:
    """An InputError for an option that says nothing of a source of this kind."""
    for option, value in given.items():
        meant = "excel" if option == "sheet" else "text"
        if value not in (None, False) and meant != kind:
            what = "text files such as CSV" if meant == "text" else "Excel files"
            raise InputError(
                "option-unused", f"{option} has a meaning for {what} only.", "Leave it out."
            )
