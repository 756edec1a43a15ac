"""The bytes of a text table: unpacked, and in UTF-8, never more of them than memory allows."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

from shoal.errors import InputError
from shoal.memory import refuse_memory

PIECE = 1 << 20
COPIES = 2
"""A table is held as it was read and as it is coded."""
TEXT = 16
"""Bytes of a cell of text, beside the text itself."""
REMEDY = "Give a part of it, or fewer columns."


def read_utf8(path: Path, encoding: str | None) -> bytes:
    """The contents of a file, without a mark at the beginning, in UTF-8."""
    data = _unpacked(path)
    if encoding is None:
        refuse_utf16(data, path)
        for _ in _decoded(data, path, "utf-8"):
            pass
        return data.removeprefix(codecs.BOM_UTF8)
    try:
        converted = b"".join(text.encode() for text in _decoded(data, path, encoding))
    except UnicodeEncodeError:
        raise not_in(encoding, path, "it holds halves of characters") from None
    return converted.removeprefix(codecs.BOM_UTF8)


def refuse_utf16(data: bytes, path: Path) -> None:
    """An InputError for a file that begins as UTF-16 does."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(
            "csv-encoding", f'"{path}" is written in UTF-16.', 'Give encoding="utf-16".'
        )


def text_decoder(encoding: str) -> codecs.IncrementalDecoder:
    """A decoder of that name, or an InputError."""
    try:
        # Of all codecs that Python knows, only those for text.
        io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        return codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise InputError(
            "encoding-unknown",
            f'There is no encoding "{encoding}".',
            "Use utf-8, latin-1, cp1252 or another name that Python knows.",
        ) from None


def _unpacked(path: Path) -> bytes:
    what = f'To read "{path}"'
    if path.suffix.lower() != ".gz":
        refuse_memory(COPIES * path.stat().st_size, what, REMEDY)
        return path.read_bytes()
    pieces, size = [], 0
    try:
        with gzip.open(path) as file:
            while piece := file.read(PIECE):
                size += len(piece)
                refuse_memory(COPIES * size, f"{what}, unpacked,", REMEDY)
                pieces.append(piece)
    except (OSError, EOFError, zlib.error):
        raise InputError(
            "gzip-damaged", f'"{path}" is no complete gzip file.', "Copy or compress it again."
        ) from None
    return b"".join(pieces)


def _decoded(data: bytes, path: Path, encoding: str) -> Iterator[str]:
    """The text, piece by piece: as a whole it may take four times the memory."""
    decoder = text_decoder(encoding)
    for start in range(0, len(data), PIECE):
        piece = data[start : start + PIECE]
        last = start + PIECE >= len(data)
        try:
            yield decoder.decode(piece, last)
        except UnicodeDecodeError as error:
            at = start + len(piece) - len(error.object) + error.start
            line = data.count(b"\n", 0, at) + 1
            raise not_in(encoding, path, f"line {line} holds the byte 0x{data[at]:02X}") from None
        except UnicodeError:
            raise not_in(encoding, path, "it does not begin as such a file does") from None


def not_in(encoding: str, path: Path, why: str) -> InputError:
    """The error for a file that is written in another encoding."""
    shown = "UTF-8" if encoding == "utf-8" else encoding
    return InputError(
        "csv-encoding",
        f'"{path}" is not written in {shown}: {why}.',
        'Say what it is written in, such as encoding="latin-1", or "cp1252" from Windows.',
    )
