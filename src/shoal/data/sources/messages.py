"""How much the messages of an Arrow file unpack to, seen from their heads without unpacking them.

A message is described by a flatbuffer: a table has, before its fields, the offset of a list that
says where each field is. A packed buffer begins with the number of bytes that it unpacks to.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MAGIC = 6
_DICTIONARIES, _BATCHES = 2, 3
_HEADER, _LENGTH, _BUFFERS, _PACKED, _DATA = 2, 0, 2, 3, 1
"""The numbers of the fields of a file's foot, and of a message."""


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
