"""`write_table`: a frame as CSV, Parquet or Arrow, whole or not at all, always the same bytes."""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl

from shoal.data.sources.bare import bare_arrow, check_cells, coded_arrow
from shoal.data.sources.formats import FORMATS, file_kind, is_tabbed, unknown_kind
from shoal.data.sources.guard import guarded
from shoal.data.storage.replace import replace_file
from shoal.data.table.frames import to_polars
from shoal.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

WRITTEN = {one.kind for one in FORMATS if one.written}
LINES_AT_ONCE = 1 << 16
"""So many lines are copied for writing at a time."""


def write_table(frame: Any, path: str | Path) -> None:
    """Writes a pandas, Polars or PyArrow frame; the name's ending says in which form.

    CSV (.csv, .tsv, .txt, also .gz) is UTF-8. Text in it that a spreadsheet would run as a
    formula stands behind an apostrophe; `read_table(path, unguard=True)` takes that back.
    Missing values and empty texts are both written as empty cells, and read as missing.
    """
    data = to_polars(frame)
    starts = range(0, max(1, data.height), LINES_AT_ONCE)
    write_parts((data.slice(first, LINES_AT_ONCE) for first in starts), path)


def write_parts(parts: Iterable[pl.DataFrame], path: str | Path) -> None:
    """Writes a table that comes in parts, of which one at a time is in memory."""
    with part_writer(path) as write:
        for part in parts:
            write(part)


@contextmanager
def part_writer(path: str | Path) -> Iterator[Callable[[pl.DataFrame], None]]:
    """For whoever has a table's parts at hand one by one: gives what writes the next of them."""
    target = Path(path)
    kind = file_kind(target)
    if kind is None:
        raise unknown_kind(target)
    if kind not in WRITTEN or target.suffix.lower() == ".zst":
        problem = f'shoal does not write files such as "{target}".'
        raise InputError("output-form", problem, "Write .csv, .csv.gz, .parquet or .arrow.")
    with replace_file(target) as new, new.open("wb") as file:
        try:
            with ExitStack() as stack:
                yield _writer(kind, target, file, stack)
        except pl.exceptions.PolarsError as error:
            raise _as_os_error(error) from None


def _writer(
    kind: str, target: Path, file: BinaryIO, stack: ExitStack
) -> Callable[[pl.DataFrame], None]:
    """What writes one part after the other. Parquet and Arrow need the first of them to begin."""
    out: Any = None
    begun = False
    if kind == "text":
        packed = target.suffix.lower() == ".gz"
        zipped = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if packed else nullcontext(file)
        out = stack.enter_context(zipped)

    def text(part: pl.DataFrame) -> None:
        nonlocal begun
        separator = "\t" if is_tabbed(target) else ","
        for column in part:
            check_cells(column)
        guarded(part).write_csv(out, separator=separator, include_header=not begun)
        begun = True

    def parquet(part: pl.DataFrame) -> None:
        nonlocal out
        table = coded_arrow(part)
        out = out or stack.enter_context(_parquet_file(file, table))
        out.write_table(table)

    def arrow(part: pl.DataFrame) -> None:
        from pyarrow import ipc

        nonlocal out
        table = bare_arrow(part)
        options = ipc.IpcWriteOptions(compression="zstd")
        out = out or stack.enter_context(ipc.new_file(file, table.schema, options=options))
        out.write_table(table)

    return {"text": text, "parquet": parquet, "arrow": arrow}[kind]


def _parquet_file(file: BinaryIO | Path, first: pa.Table) -> Any:
    """A Parquet file for a table that begins so. Whole numbers that never fall, such as those of
    groups, are written as differences, which take a tenth of the space. Readers are told of texts,
    also where these come as numbers of texts."""
    from pyarrow.parquet import ParquetWriter

    rising = [name for name in first.column_names if _rises(first[name])]
    writer = ParquetWriter(
        file,
        first.schema,
        compression="zstd",
        use_dictionary=[name for name in first.column_names if name not in rising],
        column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
        store_schema=False,
    )
    schema = b64encode(_of_texts(first.schema).serialize().to_pybytes())
    writer.add_key_value_metadata({"ARROW:schema": schema})
    return writer


def _of_texts(schema: pa.Schema) -> pa.Schema:
    import pyarrow as pa
    from pyarrow import types

    return pa.schema(
        [
            one.with_type(one.type.value_type) if types.is_dictionary(one.type) else one
            for one in schema
        ]
    )


def _rises(column: pa.ChunkedArray) -> bool:
    from pyarrow import types

    if not types.is_integer(column.type) or column.null_count:
        return False
    return bool(pl.Series(column).is_sorted())


def parquet_again(file: Path, again: Path) -> None:
    """Writes what `write_table` would write of a Parquet file's columns, and of nothing else in it;
    some lines are read at a time."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    given = ParquetFile(file)
    schema = given.schema_arrow
    plain = pa.schema([pa.field(one.name, one.type, one.nullable) for one in schema])

    def parts() -> Iterator[pa.Table]:
        rest = plain.empty_table()
        for batch in given.iter_batches(LINES_AT_ONCE):
            rest = pa.concat_tables([rest, pa.Table.from_batches([batch]).cast(plain)])
            while rest.num_rows >= LINES_AT_ONCE:
                yield rest.slice(0, LINES_AT_ONCE).combine_chunks()
                rest = rest.slice(LINES_AT_ONCE)
        if rest.num_rows or not given.metadata.num_rows:
            yield rest.combine_chunks()

    with ExitStack() as stack:
        writer: Any = None
        for part in parts():
            writer = writer or stack.enter_context(_parquet_file(again, part))
            writer.write_table(part)


def _as_os_error(error: pl.exceptions.PolarsError) -> Exception:
    """What the disk said, when Polars wraps it; anything else is for us to mend."""
    said = re.search(r"(?:IO error: )?([^:]*) \(os error (\d+)\)", str(error))
    return error if said is None else OSError(int(said[2]), said[1].strip())
