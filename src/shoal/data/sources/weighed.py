"""Files that know their own types, weighed before they are read: what they would take in memory.

A few bytes can stand for a table of any size. Parquet and Arrow files are weighed by what they say
of themselves, Arrow files also by unpacking them once, part by part.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shoal.data.sources.messages import unpacked_sizes
from shoal.data.sources.text import COPIES, REMEDY, TEXT
from shoal.errors import InputError
from shoal.memory import refuse_memory

WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 12}


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
