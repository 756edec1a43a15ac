"""Files that know their own types: Parquet (also folders of it), Arrow IPC, Excel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import polars as pl

from shoal.data.sources.delimited import check_columns, refuse_twice
from shoal.data.sources.numbers import typed
from shoal.data.sources.text import COPIES
from shoal.data.sources.weighed import check_arrow, check_parquet, foreign_failures, parquet_groups
from shoal.data.sources.workbook import check_excel
from shoal.data.storage.location import check_readable, redact
from shoal.errors import InputError, missing_extra, unknown
from shoal.memory import refuse_memory

_PARQUET = b"PAR1"
_ARROW = b"ARROW1"
SMALLER = "Write it with smaller row groups."


@dataclass(frozen=True, eq=False)
class ParquetFiles:
    """Parquet files; or all below a folder, in path order, `key=value` folders being columns."""

    source: Path
    files: list[Path]
    keys: list[str]

    @classmethod
    def of(cls, paths: Sequence[Path], base: Path | None = None) -> ParquetFiles:
        """Of files, or of one folder; files that a pattern matches lie below its base."""
        files, keys = list(paths), list[str]()
        if paths[0].is_dir():
            files, base = _in_folder(paths[0]), paths[0]
        if base is not None:
            keys = _keys(files, base)
        for file in files:
            _check_ends(file)
        return cls(base or paths[0], files, keys)

    @property
    def schema(self) -> pl.Schema:
        with self._failures():
            return self._lazy().collect_schema()

    def weight(self, columns: Sequence[str] | None) -> int:
        """The bytes that the columns would take in memory."""
        return sum(size for file in self.files for _, size in self._groups(file, columns))

    def read(self, columns: Sequence[str] | None) -> pl.DataFrame:
        """All of it, unless that would take too much memory."""
        check_parquet(self.files, columns, self.source, self._damaged)
        return self.typed(self._select(columns))

    def frames(self, columns: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
        """About so many rows after the other. Row groups are not taken apart: each is unpacked as a
        whole, which memory has to allow."""
        begin, count = 0, 0
        for file in self.files:
            for more, size in self._groups(file, columns):
                refuse_memory(COPIES * size, f'To read a row group of "{file}"', SMALLER)
                if count and count + more > rows:
                    yield self._select(columns, begin, count)
                    begin, count = begin + count, 0
                count += more
        if count:
            yield self._select(columns, begin, count)

    def coded_frames(self, columns: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
        """Frames with texts as categories where a file has numbered them already: to find each
        text again takes three times as long."""
        begin, schema = 0, self.schema
        wanted = [name for name in columns if schema.get(name) == pl.String]
        for file in self.files:
            sizes, texts = self._groups(file, columns), self._numbered_texts(file, wanted)
            for first, last in _stretches([count for count, _ in sizes], rows):
                weight = max(size for _, size in sizes[first:last])
                refuse_memory(COPIES * weight, f'To read a row group of "{file}"', SMALLER)
                count = sum(count for count, _ in sizes[first:last])
                others = [name for name in columns if name not in texts]
                parts = [self._select(others, begin, count)] if others else []
                if texts:
                    parts.append(self._categories(file, texts, range(first, last)))
                yield pl.concat(parts, how="horizontal").select(columns)
                begin += count

    def _numbered_texts(self, file: Path, columns: Sequence[str]) -> list[str]:
        from pyarrow import ArrowException, types
        from pyarrow.parquet import ParquetFile

        with foreign_failures(self._damaged, ArrowException, OSError):
            schema = ParquetFile(file).schema_arrow
        texts = [
            one.name
            for one in schema
            if types.is_string(one.type) or types.is_large_string(one.type)
        ]
        return [name for name in columns if name in texts]

    def _categories(self, file: Path, texts: list[str], groups: range) -> pl.DataFrame:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile

        with foreign_failures(self._damaged, ArrowException, OSError):
            table = ParquetFile(file, read_dictionary=texts).read_row_groups(groups, columns=texts)
            table.validate(full=True)
            return cast(pl.DataFrame, pl.from_arrow(table))

    def typed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A frame of these files with the numbers among what folders say."""
        mine = [name for name in self.keys if name in frame.columns]
        return frame.with_columns(typed(frame.select(mine))) if mine else frame

    def _lazy(self) -> pl.LazyFrame:
        return pl.scan_parquet(
            self.files,
            glob=False,
            hive_partitioning=bool(self.keys),
            hive_schema=dict.fromkeys(self.keys, pl.String) if self.keys else None,
        )

    def _select(
        self, columns: Sequence[str] | None, begin: int = 0, count: int | None = None
    ) -> pl.DataFrame:
        with self._failures():
            lazy = self._lazy()
            names = lazy.collect_schema().names()
            if columns is not None:
                check_columns(columns, names)
            return lazy.slice(begin, count).select(columns or names).collect()

    def _groups(self, file: Path, columns: Sequence[str] | None) -> list[tuple[int, int]]:
        return parquet_groups(file, columns, self._damaged)

    @property
    def _damaged(self) -> InputError:
        return _damaged(self.source, "Parquet")

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            with foreign_failures(self._damaged):
                yield
        except (pl.exceptions.SchemaError, pl.exceptions.ColumnNotFoundError):
            raise InputError(
                "folder",
                f'The Parquet files in "{self.source}" do not have the same columns.',
                "Give a folder whose files belong to one table.",
            ) from None
        except (pl.exceptions.PolarsError, OSError):
            raise self._damaged from None


def _stretches(sizes: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """The first and last of numbers that come to no more than the most together, one after another;
    a larger one stands alone."""
    first, total = 0, 0
    for place, size in enumerate(sizes):
        if place > first and total + size > most:
            yield first, place
            first, total = place, 0
        total += size
    if first < len(sizes):
        yield first, len(sizes)


def _in_folder(folder: Path) -> list[Path]:
    """The Parquet files below a folder."""
    files = [
        file
        for file in sorted(folder.rglob("*.parquet"))
        if not any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
    ]
    if not files:
        raise InputError(
            "folder",
            f'"{folder}" is a folder without Parquet files.',
            "Give a file, or a folder that holds .parquet files.",
        )
    return files


def _keys(files: Sequence[Path], folder: Path) -> list[str]:
    """The keys of the folders between a folder and files in it."""
    keys = {_partition_keys(file.relative_to(folder)) for file in files}
    if len(keys) > 1:
        raise InputError(
            "folder",
            f'The files in "{folder}" lie in folders with different keys.',
            "Give a folder that is partitioned in one way.",
        )
    return list(keys.pop())


def read_arrow(path: Path, columns: Sequence[str] | None) -> pl.DataFrame:
    """An Arrow IPC file (Feather V2)."""
    with path.open("rb") as file:
        if file.read(len(_ARROW)) != _ARROW:
            raise InputError(
                "file-damaged",
                f'"{path}" is no Arrow file: it is a stream, damaged, or something else.',
                "Write it again in the Arrow IPC file format.",
            )
    damaged = _damaged(path, "Arrow")
    check_arrow(path, damaged)
    with foreign_failures(damaged, pl.exceptions.PolarsError, OSError):
        names = list(pl.read_ipc_schema(path))
        if columns is not None:
            check_columns(columns, names)
        return pl.read_ipc(path.read_bytes(), columns=list(columns or names))


def read_excel(path: Path, columns: Sequence[str] | None, sheet: str | None) -> pl.DataFrame:
    """One sheet of an Excel workbook, the first row being the header."""
    try:
        import fastexcel
    except ImportError:
        raise missing_extra("An Excel file", "fastexcel") from None
    damaged = _damaged(path, "Excel (.xlsx)")
    check_excel(path, damaged)
    with foreign_failures(damaged, fastexcel.FastExcelError, pl.exceptions.PolarsError):
        book = fastexcel.read_excel(path)
        chosen = _sheet(book, sheet, path)
        header = book.load_sheet(chosen, header_row=None, n_rows=1, dtypes="string").to_polars()
        names = [name or f"column_{i}" for i, name in enumerate(header.row(0), start=1)]
        # Types are judged by all rows: from a sample, later cells of another type would be lost.
        frame = book.load_sheet(chosen, schema_sample_rows=None).to_polars()
    refuse_twice(names, path)
    if len(names) != frame.width:
        raise damaged
    frame = frame.with_columns(whole(column) for column in frame if column.dtype == pl.Float64)
    frame.columns = names
    if columns is not None:
        check_columns(columns, names)
    return frame.select(columns or names)


def refuse_other(heads: Sequence[object], source: str | Path) -> None:
    """An InputError if files that are to be one table do not have the same columns."""
    if any(head != heads[0] for head in heads):
        raise InputError(
            "folder",
            f'The files that "{redact(source)}" matches do not have the same columns.',
            "Give a pattern whose files belong to one table.",
        )


def _partition_keys(file: Path) -> tuple[str, ...]:
    return tuple(part.partition("=")[0] for part in file.parent.parts if "=" in part)


def _check_ends(file: Path) -> None:
    check_readable(file)
    with file.open("rb") as stream:
        begin = stream.read(4)
        stream.seek(max(0, stream.seek(0, 2) - 4))
        end = stream.read()
    if begin != _PARQUET or end != _PARQUET:
        raise _damaged(file, "Parquet")


def whole(column: pl.Series) -> pl.Series:
    """Excel and SPSS know no whole numbers: a column is one if all of its numbers are whole."""
    whole = column.cast(pl.Int64, strict=False)
    return whole if (whole.cast(pl.Float64) == column).all() else column


def _sheet(book: object, sheet: str | None, path: Path) -> str:
    names: list[str] = book.sheet_names  # type: ignore[attr-defined]
    if sheet is not None:
        if sheet not in names:
            raise unknown("excel-sheet", f'"{path}" has no sheet "{sheet}"', sheet, names)
        return sheet
    filled = [
        name
        for name in names
        if book.load_sheet(name, header_row=None, n_rows=1).width  # type: ignore[attr-defined]
    ]
    if not filled:
        raise InputError("file-empty", f'"{path}" is empty.', "Give a table with a header row.")
    if len(filled) > 1:
        raise InputError(
            "excel-sheet",
            f'"{path}" has {len(filled)} sheets that hold something.',
            f"Choose one with --sheet (in Python sheet=): {', '.join(filled)}.",
        )
    return filled[0]


def _damaged(path: Path, kind: str) -> InputError:
    return InputError(
        "file-damaged",
        f'"{path}" cannot be read as {kind}: it is damaged, cut short or something else.',
        "Copy or export it again.",
    )
