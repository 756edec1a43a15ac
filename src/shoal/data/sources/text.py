"""A text file as UTF-8: unpacked, decoded and checked piece by piece, never whole in memory."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal.data.sources.formats import STREAMED, TEXTS, ending_of
from shoal.errors import InputError
from shoal.memory import refuse_memory

PIECE = 1 << 20
COPIES = 2
"""A table is held as it was read and as it is coded."""
TEXT = 16
"""Bytes of a cell of text, beside the text itself."""
REMEDY = "Give a part of it, or fewer columns."
START = 16
MARKED = {
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
TAIL = 1 << 20
"""So many bytes of the end of a text are looked at for a quotation mark that is never closed."""


def text_decoder(encoding: str) -> codecs.IncrementalDecoder:
    """A decoder of that name, or an InputError."""
    try:
        # Of all codecs that Python knows, only those for text.
        io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        return codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise InputError(
            "encoding",
            f'There is no encoding "{encoding}".',
            "Use utf-8, latin-1, cp1252 or another name that Python knows.",
        ) from None


def opened(path: Path) -> Any:
    """The bytes of a file, unpacked if its ending says how it is compressed."""
    ending = path.suffix.lower()
    if ending == ".zst":
        from pyarrow import CompressedInputStream

        return CompressedInputStream(str(path), "zstd")
    return (gzip.open if ending == ".gz" else open)(path, "rb")


class TextFile(io.RawIOBase):
    """A text file without a mark or empty lines at its beginning, and with an end of line at its
    end. If it is to be held `whole`, memory has to allow that."""

    def __init__(self, path: Path, encoding: str | None, *, whole: bool = False) -> None:
        super().__init__()
        self.tail = b""
        self.lines = 1
        """As far as it was read, without empty ones at the end."""
        self.size = 0
        """Bytes read, unpacked."""
        self._path, self._encoding, self._whole = path, encoding, whole
        self._decoder = text_decoder(encoding or "utf-8")
        self._pieces = self._read()
        self._ready = b""
        self._start = b""
        self._plain = True
        """Whether all that was decoded is ASCII."""

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
        with suppress(ValueError):  # a parser that stops early may still be reading ahead
            self._pieces.close()
        super().close()

    def _read(self) -> Generator[bytes]:
        packed = self._path.suffix.lower() in STREAMED
        what = f'To read "{self._path}"{", unpacked," if packed else ""}'
        begun, before = False, 0
        with opened(self._path) as file:
            while True:
                try:
                    raw = file.read(PIECE)
                except (OSError, EOFError, zlib.error):
                    raise InputError(
                        "file-damaged",
                        f'"{self._path}" is no complete {self._path.suffix} file.',
                        "Copy or compress it again.",
                    ) from None
                self.size += len(raw)
                if self._whole:
                    refuse_memory(COPIES * self.size, what, REMEDY)
                piece = self._decoded(raw, before)
                if b"\0" in piece:
                    self._refuse_other()
                    line = before + piece.count(b"\n", 0, piece.index(b"\0")) + 1
                    raise InputError(
                        "csv-damaged",
                        f'Line {line} of "{self._path}" holds a NUL byte, so it is no text file '
                        "or a damaged one.",
                        "Export it again as CSV.",
                    )
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
                    self.lines -= self.tail[len(self.tail.rstrip()) :].count(b"\n")
                    yield piece
                    return
                yield piece

    def _decoded(self, raw: bytes, before: int) -> bytes:
        """A piece in UTF-8, with so many lines before it."""
        if self.size == len(raw):
            self._start = raw[:START]
            self._refuse_wide()
        mixed = False
        try:
            text = self._decoder.decode(raw, not raw)
            self._plain = self._plain and text.isascii()
            return raw if self._encoding is None else text.encode()
        except UnicodeDecodeError as error:
            self._refuse_other()
            good = error.object[: error.start]
            line = before + good.count(b"\n") + 1
            why = f"line {line} holds the byte 0x{error.object[error.start]:02X}"
            mixed = self._encoding is None and not (self._plain and good.isascii())
            why += ", and what comes before it is of UTF-8" if mixed else ""
        except UnicodeEncodeError:
            why = "it holds halves of characters"
        except UnicodeError:
            why = "it does not begin as such a file does"
        shown = "UTF-8" if self._encoding in (None, "utf-8") else self._encoding
        raise InputError(
            "encoding",
            f'"{self._path}" is not written in {shown}: {why}.',
            f"{'Write all of it in one encoding, or say' if mixed else 'Say'} what it is written "
            "in, such as --encoding latin-1, or cp1252 from Windows (in Python "
            'encoding="latin-1").',
        )

    def _refuse_wide(self) -> None:
        """An InputError if the file begins with the mark of a wide encoding, or as one does without
        a mark: a letter and a NUL."""
        marked = [name for name, marks in MARKED.items() if self._start.startswith(marks)]
        zero = self._start[:2].find(b"\0")
        if self._start[:2] != b"\0\0" and zero >= 0:
            marked.append(("utf-16-be", "utf-16-le")[zero])
        if marked and self._encoding is None:
            raise InputError(
                "encoding",
                f'"{self._path}" is written in {marked[0].upper()}.',
                f'Give --encoding {marked[0]} (in Python encoding="{marked[0]}").',
            )

    def _refuse_other(self) -> None:
        """An InputError if the file begins as one of another kind does."""
        ending = ending_of(self._start)
        if ending not in TEXTS:
            raise InputError(
                "file-kind",
                f'"{self._path}" is no text: it begins as a {ending} file does.',
                f"Give it the ending {ending}.",
            )
