"""Excel files, weighed before they are read: unpacked once, piece by piece.

A workbook is a zip file. Its sheets are read as rectangles, up to the last cell; texts that several
cells share are said once, and are in memory as often as cells show them.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from shoal.arrays import Ints
from shoal.data.sources.text import COPIES, REMEDY
from shoal.data.sources.weighed import foreign_failures
from shoal.errors import InputError
from shoal.memory import refuse_memory

CELL = 32
"""Bytes of a cell of a sheet while it is read."""
PIECE = 1 << 20
OVERLAP = 64
"""Bytes that are looked at again with the next piece."""
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
_SHARED = re.compile(rb"""\bt\s*=\s*["']s["'][^<>]*><(?:\w+:)?v[^<>]*>\s*([0-9]{1,9})""")
_TEXTS = "sharedstrings.xml"
_TEXT_END = re.compile(rb"</(?:\w+:)?si\s*>")
_FAILURES = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
)


def check_excel(path: Path, damaged: InputError) -> None:
    """An InputError if a workbook, unpacked, or the cells of a sheet would take too much. What its
    directory says of sizes has to be true."""
    with foreign_failures(damaged, *_FAILURES), zipfile.ZipFile(path) as book:
        parts = [(part.filename.lower(), part) for part in book.infolist()]
        unpacked = sum(part.file_size for _, part in parts)
        refuse_memory(COPIES * unpacked, f'To read "{path}", unpacked,', REMEDY)
        texts = np.zeros(0, np.int64)
        for name, part in sorted(parts, key=lambda one: not one[0].endswith(_TEXTS)):
            pieces = _pieces(book, part, damaged)
            if name.endswith(_TEXTS):
                texts = _text_sizes(pieces)
            elif "/worksheets/" in name:
                _check_sheet(pieces, texts, path)
            else:
                for _ in pieces:
                    pass


def _text_sizes(pieces: Iterator[bytes]) -> Ints:
    """The bytes of every text that cells share."""
    ends, start, rest = [0], 0, b""
    for piece in pieces:
        data = rest + piece
        found = [start - len(rest) + match.end() for match in _TEXT_END.finditer(data)]
        ends += [end for end in found if end > ends[-1]]
        start, rest = start + len(piece), data[-OVERLAP:]
    places = np.array(ends, np.int64)
    return places[1:] - places[:-1]


def _check_sheet(pieces: Iterator[bytes], texts: Ints, path: Path) -> None:
    row, column, shown, rest = 0, 0, 0, b""
    for piece in pieces:
        data = rest + piece
        for letters, digits in set(_PLACE.findall(data)):
            row, column = max(row, int(digits)), max(column, _column_number(letters))
        numbers = np.array(_SHARED.findall(data), dtype="S9").astype(np.int64)
        shown += int(texts[numbers[numbers < len(texts)]].sum())
        rest = data[-OVERLAP:]
        needed = CELL * row * column + COPIES * shown
        refuse_memory(needed, f'The sheet that "{path}" holds', REMEDY)


def _pieces(book: zipfile.ZipFile, part: zipfile.ZipInfo, damaged: InputError) -> Iterator[bytes]:
    """What a part unpacks to; `zipfile` alone would stop where the directory says that it ends."""
    if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise damaged
    claimed, size = part.file_size, 0
    part.file_size = 1 << 62
    try:
        with book.open(part) as stream:
            while piece := stream.read(PIECE):
                size += len(piece)
                if size > claimed:
                    raise damaged
                yield piece
    finally:
        part.file_size = claimed


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
