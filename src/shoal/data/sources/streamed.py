"""Sources that are read some rows at a time, and again from the start: CSV, Parquet, folders of it.

What is counted or dealt needs never be in memory as a whole. Cells of CSV stay text: what type a
column has is a property of all of its values, so that `finished` finds it for the distinct ones.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl

from shoal.data.sources.columnar import ParquetFiles
from shoal.data.sources.delimited import (
    HEADER,
    check_closed,
    check_columns,
    header_of,
    no_rows,
    open_text,
    plain,
    refuse_nul,
    refuse_ragged,
    typed,
)
from shoal.data.sources.read import refuse_unused, source_kind
from shoal.data.sources.unpacked import PIECE, not_in, refuse_utf16, text_decoder
from shoal.data.storage.location import check_readable
from shoal.errors import InputError

BLOCK = 1 << 24
"""Bytes of text that are split at a time; a row may be as long."""
ROWS_AT_ONCE = 1 << 20
TAIL = 1 << 20
"""So many bytes of the end of a text are looked at for a quotation mark that is never closed."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A table that is read some rows at a time, in the same order each time."""

    schema: pl.Schema
    """The columns as `frames` gives them."""
    weight: int
    """About how many bytes all of it would take in memory."""
    frames: Callable[[Sequence[str]], Iterator[pl.DataFrame]]
    """Some columns of some rows after the other."""
    coded_frames: Callable[[Sequence[str]], Iterator[pl.DataFrame]]
    """The same; texts may be categories."""
    finished: Callable[[pl.DataFrame], pl.DataFrame]
    """Such a frame of distinct values as `read_table` would give it."""
    files: list[str]
    """The Parquet files that it consists of, and of nothing else; or none."""

    @property
    def names(self) -> list[str]:
        return self.schema.names()


def open_rows(
    source: str | Path, *, separator: str | None = None, encoding: str | None = None
) -> Rows | None:
    """The source, or None if it is of a kind that is read as a whole only."""
    kind, path = source_kind(source), Path(source)
    refuse_unused(kind, separator=separator, encoding=encoding)
    if kind == "text":
        return _text_rows(path, separator, encoding)
    if kind not in ("parquet", "folder"):
        return None
    files = ParquetFiles.of(path)
    return Rows(
        schema=files.schema,
        weight=files.weight(None),
        frames=lambda columns: files.frames(columns, ROWS_AT_ONCE),
        coded_frames=lambda columns: files.coded_frames(columns, ROWS_AT_ONCE),
        finished=lambda frame: plain(files.typed(frame)),
        files=[] if files.keys else [str(file) for file in files.files],
    )


def _text_rows(path: Path, separator: str | None, encoding: str | None) -> Rows:
    check_readable(path)
    with _Text(path, encoding) as file:
        head = file.read(HEADER)
    if not head.strip():
        raise InputError("file-empty", f'"{path}" is empty.', "Give a table with a header row.")
    chosen, names = header_of(head, separator, path)

    def frames(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        from pyarrow import ArrowInvalid

        check_columns(columns, names)
        # The last column is looked at in any case: an open quotation mark ends up there.
        wanted = list(dict.fromkeys([*columns, names[-1]]))
        bad: list[object] = []
        last = None
        with _Text(path, encoding) as file:
            try:
                with open_text(
                    cast(BinaryIO, file), chosen, names, block=BLOCK, bad=bad, columns=wanted
                ) as reader:
                    for batch in reader:
                        refuse_ragged(bad, len(names), path)
                        frame = pl.DataFrame(batch)
                        last = frame[names[-1]][-1] if frame.height else last
                        yield frame.select(columns)
            except ArrowInvalid:
                raise no_rows(path) from None
            refuse_ragged(bad, len(names), path)
            check_closed(file.tail, last, path, lines=file.lines)

    size = path.stat().st_size * (5 if path.suffix.lower() == ".gz" else 1)
    return Rows(pl.Schema(dict.fromkeys(names, pl.String)), size, frames, frames, typed, [])


class _Text(io.RawIOBase):
    """A text file as UTF-8 without a mark or empty lines at its beginning, and with an end of line
    at its end; checked piece by piece."""

    def __init__(self, path: Path, encoding: str | None) -> None:
        super().__init__()
        self.tail = b""
        self.lines = 1
        """As far as it was read, without empty ones at the end."""
        self._path = path
        self._pieces = self._read(path, encoding)
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._ready = piece
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def read(self, size: int = -1) -> bytes:
        """As many bytes as are asked for, or all that are left."""
        parts, wanted = [], size
        while size < 0 or wanted > 0:
            buffer = bytearray(PIECE if size < 0 else min(PIECE, wanted))
            count = self.readinto(memoryview(buffer))
            if not count:
                break
            parts.append(bytes(buffer[:count]))
            wanted -= count
        return b"".join(parts)

    def close(self) -> None:
        self._pieces.close()
        super().close()

    def _read(self, path: Path, encoding: str | None) -> Generator[bytes]:
        decoder = text_decoder(encoding or "utf-8")
        begun, before = False, 0
        with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb") as file:
            while True:
                try:
                    raw = file.read(PIECE)
                except (OSError, EOFError, zlib.error):
                    raise InputError(
                        "gzip-damaged",
                        f'"{path}" is no complete gzip file.',
                        "Copy or compress it again.",
                    ) from None
                if not begun and encoding is None:
                    refuse_utf16(raw, path)
                piece = self._decoded(decoder, raw, encoding, before)
                refuse_nul(piece, path, before=before)
                before += piece.count(b"\n")
                if not begun:
                    piece = piece.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
                    begun = bool(piece)
                if not raw:
                    ended = self.tail.endswith((b"\n", b"\r")) or not begun
                    piece += b"" if ended and not piece else b"\n"
                self.tail = (self.tail + piece)[-TAIL:]
                self.lines += piece.count(b"\n")
                if not raw:
                    blank = len(self.tail) - len(self.tail.rstrip())
                    self.lines -= self.tail[len(self.tail) - blank :].count(b"\n")
                    yield piece
                    return
                yield piece

    def _decoded(
        self, decoder: codecs.IncrementalDecoder, raw: bytes, encoding: str | None, before: int
    ) -> bytes:
        try:
            return decoder.decode(raw, not raw).encode()
        except UnicodeDecodeError as error:
            line = before + error.object[: error.start].count(b"\n") + 1
            found = error.object[error.start]
            why = f"line {line} holds the byte 0x{found:02X}"
            raise not_in(encoding or "utf-8", self._path, why) from None
        except UnicodeEncodeError:
            why = "it holds halves of characters"
            raise not_in(encoding or "utf-8", self._path, why) from None
        except UnicodeError:
            why = "it does not begin as such a file does"
            raise not_in(encoding or "utf-8", self._path, why) from None
