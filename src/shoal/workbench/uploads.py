"""Files that are dropped into the browser: written to disk piece by piece, up to a limit."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from shoal.data.sources.read import file_kind, unknown_kind
from shoal.data.storage import replace_file
from shoal.errors import InputError

LONGEST_NAME = 120
"""In bytes: whoever writes a file to the side first gives it a longer name."""
_UNWANTED = re.compile(r"[^\w.+ -]", re.UNICODE)


def clean_name(given: str) -> str:
    """The last part of a file's name, without what a path or a shell could take amiss; an
    InputError where its ending says nothing."""
    last = given.replace("\\", "/").rsplit("/", 1)[-1]
    short = _UNWANTED.sub("_", last).strip(" .").encode()[-LONGEST_NAME:]
    cleaned = short.decode("utf-8", "ignore").lstrip(" .-")
    if not cleaned or file_kind(Path(cleaned)) is None:
        raise unknown_kind(Path(cleaned or "file"))
    return cleaned


async def save_upload(request: Request, folder: Path, *, limit: int) -> Path:
    """The one file of a form, in the folder; it is whole or not there at all."""
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limit:
        raise _too_large(limit)
    _, options = parse_options_header(request.headers.get("content-type"))
    boundary = options.get(b"boundary")
    if boundary is None:
        raise _no_file()
    folder.mkdir(exist_ok=True)
    pieces = request.stream()
    try:
        reader = _Reader(boundary)
    except FormParserError:
        raise _no_file() from None
    while not reader.named and (piece := await anext(pieces, None)) is not None:
        limit = reader.feed(piece, limit)
    if not reader.named:
        raise _no_file()
    target = folder / clean_name(reader.name)
    with replace_file(target) as new, new.open("wb") as file:
        await _rest(reader, pieces, file, limit)
    return target


async def _rest(reader: _Reader, pieces: AsyncIterator[bytes], file: BinaryIO, limit: int) -> None:
    reader.move_to(file)
    async for piece in pieces:
        limit = reader.feed(piece, limit)
    if not reader.complete:
        raise InputError(
            "upload-broken", "The file did not arrive as a whole.", "Send it once more."
        )


class _Reader:
    """Takes a form apart as it comes, and keeps of it the one file."""

    def __init__(self, boundary: bytes) -> None:
        self.name, self.named, self.complete = "", False, False
        self._header, self._value = b"", b""
        self._file: BinaryIO | None = None
        self._waiting: list[bytes] = []
        self._inside = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_header_field": self._on_field,
                "on_header_value": self._on_value,
                "on_header_end": self._on_header_end,
                "on_part_data": self._on_data,
                "on_part_end": self._on_part_end,
                "on_end": self._on_end,
            },
        )

    def feed(self, piece: bytes, left: int) -> int:
        """Reads on; how many bytes may still come."""
        if len(piece) > left:
            raise _too_large(None)
        try:
            self._parser.write(piece)
        except FormParserError:
            raise _no_file() from None
        return left - len(piece)

    def move_to(self, file: BinaryIO) -> None:
        self._file = file
        file.writelines(self._waiting)
        self._waiting = []

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        if self._header.lower() == b"content-disposition" and not self.named:
            _, options = parse_options_header(self._value)
            name = options.get(b"filename", b"")
            if name:
                self.name, self.named, self._inside = name.decode("utf-8", "replace"), True, True
        self._header, self._value = b"", b""

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if not self._inside:
            return
        if self._file is None:
            self._waiting.append(data[start:end])
        else:
            self._file.write(data[start:end])

    def _on_part_end(self) -> None:
        self._inside = False

    def _on_end(self) -> None:
        self.complete = True


def _too_large(limit: int | None) -> InputError:
    named = "" if limit is None else f" of {limit / 1e6:,.0f} MB"
    return InputError(
        "upload-large",
        f"The file is larger than the limit{named} for what is sent by the browser.",
        "Put it into the project folder and choose it there, or raise --upload-limit.",
    )


def _no_file() -> InputError:
    return InputError("upload-none", "No file came with the form.", "Choose or drop one.")
