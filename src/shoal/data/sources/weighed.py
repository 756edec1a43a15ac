"""Files that know their own types, weighed before they are read: what they would take in memory.

A few bytes can stand for a table of any size. Parquet and Arrow files are weighed by what they say
of themselves, Arrow files also by unpacking them once, part by part.

A message of an Arrow file is described by a flatbuffer: a table has, before its fields, the offset
of a list that says where each field is. A packed buffer begins with the number of bytes that it
unpacks to.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shoal.data.sources.text import COPIES, REMEDY, TEXT
from shoal.errors import InputError
from shoal.memory import refuse_memory

WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 12}
_MAGIC = 6
_DICTIONARIES, _BATCHES = 2, 3
_HEADER, _LENGTH, _BUFFERS, _PACKED, _DATA = 2, 0, 2, 3, 1
"""The numbers of the fields of a file's foot, and of a message."""


@contextmanager
def foreign_failures(damaged: InputError, *expected: type[Exception]) -> Iterator[None]:
    """Turns what a library raises over a damaged file into the error given; also its panics, which
    are no Exceptions."""
    try:
        yield
    except expected:
        raise damaged from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise damaged from None


def check_parquet(
    files: Sequence[Path], columns: Sequence[str] | None, source: Path, damaged: InputError
) -> None:
    """An InputError if the columns of Parquet files would take too much."""
    needed = 0
    for file in files:
        needed += sum(size for _, size in parquet_groups(file, columns, damaged))
        refuse_memory(COPIES * needed, f'To read "{source}"', REMEDY)


def check_arrow(path: Path, damaged: InputError) -> None:
    """An InputError if an Arrow file would take too much, or cannot be unpacked."""
    from pyarrow import ArrowException, ipc, memory_map, types

    needed = path.stat().st_size
    what = f'To read "{path}"'
    with foreign_failures(damaged, ArrowException, OSError, EOFError, struct.error):
        for size in unpacked_sizes(path):
            refuse_memory(COPIES * (needed + size), what, REMEDY)
    with (
        foreign_failures(damaged, ArrowException, OSError),
        memory_map(str(path)) as file,
        ipc.open_file(file) as reader,
    ):
        kinds = [field.type for field in reader.schema]
        texts = sum(types.is_string(kind) or types.is_large_string(kind) for kind in kinds)
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            batch.validate(full=True)
            needed += batch.nbytes + batch.num_rows * (1 + TEXT * texts)
            refuse_memory(COPIES * needed, what, REMEDY)


def parquet_groups(
    file: Path, columns: Sequence[str] | None, damaged: InputError
) -> list[tuple[int, int]]:
    """Of each row group of a Parquet file: its rows, and the bytes that its columns would take."""
    from pyarrow import ArrowException
    from pyarrow.parquet import read_metadata

    with foreign_failures(damaged, ArrowException, OSError):
        metadata = read_metadata(file)
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        return [(group.num_rows, _group_bytes(group, metadata.schema, columns)) for group in groups]


def _group_bytes(group: Any, schema: Any, columns: Sequence[str] | None) -> int:
    needed = 0
    for place in range(group.num_columns):
        chunk = group.column(place)
        if columns is None or chunk.path_in_schema.partition(".")[0] in columns:
            cells = max(chunk.num_values, group.num_rows)
            kind = chunk.physical_type
            if kind == "FIXED_LEN_BYTE_ARRAY":
                needed += cells * max(1, schema.column(place).length)
            elif kind in WIDTHS:
                needed += cells * WIDTHS[kind]
            else:
                needed += cells * TEXT + max(0, chunk.total_uncompressed_size)
    return needed


def unpacked_sizes(path: Path) -> Iterator[int]:
    """The bytes, and at least one for each row, of every message that the file's foot names. A
    struct.error if something is not what it should be."""
    from pyarrow import ipc, memory_map

    with memory_map(str(path)) as file:
        end = file.size() - _MAGIC - 4
        file.seek(max(0, end))
        length = _number(memoryview(file.read(4)), 0, "<i")
        if not 0 < length <= end:
            raise struct.error("no foot")
        file.seek(end - length)
        foot = memoryview(file.read(length))
        for kind in (_DICTIONARIES, _BATCHES):
            for offset, _, _ in _structs(foot, _table(foot, 0, None), kind, "<qi4xq"):
                file.seek(offset)
                yield _batch_size(ipc.read_message(file), dictionary=kind == _DICTIONARIES)


def _batch_size(message: Any, *, dictionary: bool) -> int:
    head, body = memoryview(message.metadata), memoryview(message.body or b"")
    batch = _table(head, _table(head, 0, None), _HEADER)
    if dictionary:
        batch = _table(head, batch, _DATA)
    at = _field(head, batch, _LENGTH)
    rows = _number(head, at, "<q") if at else 0
    packed, size = _field(head, batch, _PACKED), 0
    for offset, length in _structs(head, batch, _BUFFERS, "<qq"):
        said = _number(body, offset, "<q") if packed and length >= 8 else -1
        size += length if said < 0 else said
    return max(rows, size)


def _table(head: memoryview, table: int, field: int | None) -> int:
    """Where a table is that a field refers to, or that the flatbuffer begins with."""
    at = table if field is None else _field(head, table, field)
    return at + _number(head, at, "<I")


def _structs(head: memoryview, table: int, field: int, form: str) -> Iterator[tuple[Any, ...]]:
    """The entries of a list that is a field of a table."""
    at = _field(head, table, field)
    if at:
        first = at + _number(head, at, "<I")
        for number in range(_number(head, first, "<I")):
            yield struct.unpack_from(form, head, first + 4 + struct.calcsize(form) * number)


def _field(head: memoryview, table: int, number: int) -> int:
    """Where a field of a table is; 0 if it has none."""
    fields = table - _number(head, table, "<i")
    if 4 + 2 * number >= _number(head, fields, "<H"):
        return 0
    offset = _number(head, fields + 4 + 2 * number, "<H")
    return table + offset if offset else 0


def _number(buffer: memoryview, at: int, form: str) -> int:
    if at < 0:
        raise struct.error("before the beginning")
    return int(struct.unpack_from(form, buffer, at)[0])
