"""`write_table`: a frame as CSV, Parquet or Arrow, whole or not at all, always the same bytes."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from shoal.errors import InputError
from shoal.frames import to_polars
from shoal.sources.bare import bare
from shoal.sources.guard import guarded
from shoal.sources.read import file_kind, unknown_kind
from shoal.sources.replace import replace_file


def write_table(frame: Any, path: str | Path) -> None:
    """Writes a pandas, Polars or PyArrow frame; the name's ending says in which form.

    CSV (.csv, .tsv, .txt, also .gz) is UTF-8. Text in it that a spreadsheet would run as a
    formula stands behind an apostrophe; `read_table(path, unguard=True)` takes that back.
    Missing values and empty texts are both written as empty cells, and read as missing.
    """
    data, target = bare(to_polars(frame)), Path(path)
    kind = file_kind(target)
    if kind in (None, "excel"):
        raise unknown_kind(target) if kind is None else _no_excel(target)
    with replace_file(target) as new, new.open("wb") as file:
        try:
            if kind == "text":
                _write_text(guarded(data), target, file)
            elif kind == "parquet":
                data.write_parquet(file, compression="zstd", statistics=True)
            else:
                data.write_ipc(file, compression="zstd")
        except pl.exceptions.PolarsError as error:
            raise _as_os_error(error) from None


def _write_text(frame: pl.DataFrame, target: Path, file: BinaryIO) -> None:
    separator = "\t" if ".tsv" in target.suffixes else ","
    if target.suffix.lower() == ".gz":
        file.write(gzip.compress(frame.write_csv(separator=separator).encode(), mtime=0))
    else:
        frame.write_csv(file, separator=separator)


def _as_os_error(error: pl.exceptions.PolarsError) -> Exception:
    """What the disk said, when Polars wraps it; anything else is for us to mend."""
    said = re.search(r"(?:IO error: )?([^:]*) \(os error (\d+)\)", str(error))
    return error if said is None else OSError(int(said[2]), said[1].strip())


def _no_excel(target: Path) -> InputError:
    return InputError(
        "output-excel", f'shoal does not write Excel files such as "{target}".', "Write .csv."
    )
