"""Files that are dropped into the browser: written to disk piece by piece, up to a limit, and kept
by content: what has arrived once is never overwritten."""

from __future__ import annotations

import re
import secrets
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from shoal.data.sources.formats import file_kind, unknown_kind
from shoal.data.storage import replace_file, replace_folder
from shoal.errors import InputError
from shoal.file_names import CERTIFICATE
from shoal.workbench.project.files import file_hash

LONGEST_NAME = 120
"""In bytes: whoever writes a file to the side first gives it a longer name."""
PIECE, MOST_FILES = 1 << 20, 10_000
_UNWANTED = re.compile(r"[^\w.+ -]", re.UNICODE)


_NAMING = threading.Lock()
"""Held while a file that has arrived gets its name."""


def is_table(name: str) -> bool:
    """Whether a file's ending says what kind of table it is."""
    return file_kind(Path(name)) is not None


def is_zip(name: str) -> bool:
    """Whether a file's ending says that it is a zip archive."""
    return name.lower().endswith(".zip")


def clean_name(given: str, wanted: Callable[[str], bool] = is_table) -> str:
    """The last part of a file's name, without what a path or a shell could take amiss; an
    InputError where its ending is none that is wanted."""
    last = given.replace("\\", "/").rsplit("/", 1)[-1]
    short = _UNWANTED.sub("_", last).strip(" .").encode()[-LONGEST_NAME:]
    cleaned = short.decode("utf-8", "ignore").lstrip(" .-")
    if not cleaned or not wanted(cleaned):
        if wanted is is_zip:
            raise InputError("file-kind", "This is no .zip file.", "Send a release as a zip.")
        raise unknown_kind(Path(cleaned or "file"))
    return cleaned


async def save_upload(
    request: Request, folder: Path, *, limit: int, wanted: Callable[[str], bool] = is_table
) -> Path:
    """The one file of a form, in the folder; it is whole or not there at all."""
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limit:
        raise _too_large(limit)
    _, options = parse_options_header(request.headers.get("content-type"))
    boundary = options.get(b"boundary")
    if boundary is None:
        raise _no_file()
    folder.mkdir(exist_ok=True)
    arrived = folder / f".{secrets.token_hex(8)}"
    with replace_file(arrived) as new, new.open("wb") as file:
        try:
            reader = _Reader(boundary, file, wanted)
            async for piece in request.stream():
                limit -= len(piece)
                if limit < 0:
                    raise _too_large(None)
                reader.parser.write(piece)
        except FormParserError:
            raise _no_file() from None
        if not reader.name:
            raise _no_file()
        if not reader.complete:
            raise InputError(
                "upload-broken", "The file did not arrive as a whole.", "Send it once more."
            )
    return await run_in_threadpool(_keep_by_content, arrived, reader.name)


def _keep_by_content(arrived: Path, name: str) -> Path:
    """Gives a file its name. Where another content has it, a part of the hash goes behind it; what
    is there already is not kept twice."""
    sha = file_hash(arrived) or ""
    end = "".join(Path(name).suffixes[-2 if name.lower().endswith(".gz") else -1 :])
    stem = name.removesuffix(end)
    with _NAMING:
        for named in (name, f"{stem}-{sha[:8]}{end}", f"{stem}-{sha}{end}"):
            target = arrived.with_name(named)
            if not target.exists():
                return arrived.replace(target)
            if target.is_file() and file_hash(target) == sha:
                break
        arrived.unlink()
        return target


def unpack_release(archive: Path, *, limit: int) -> Path:
    """The release in a zip archive, in a folder beside it; an InputError where there is none, or
    it would not stay inside."""
    folder = archive.with_suffix("")
    if not folder.is_dir():
        with replace_folder(folder) as new:
            _unpack(archive, new, limit)
    found = sorted(folder.rglob(CERTIFICATE), key=lambda path: len(path.parts))
    return found[0].parent


def _unpack(archive: Path, folder: Path, limit: int) -> None:
    try:
        with zipfile.ZipFile(archive) as packed:
            entries = [one for one in packed.infolist() if not one.is_dir()]
            if sum(one.file_size for one in entries) > limit or len(entries) > MOST_FILES:
                raise _too_large(limit)
            for entry in entries:
                target = (folder / entry.filename).resolve()
                if not target.is_relative_to(folder.resolve()):
                    raise _no_release()
                target.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(entry) as file, target.open("xb") as out:
                    while piece := file.read(PIECE):
                        out.write(piece)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError):
        raise _no_release() from None
    if not any(folder.rglob(CERTIFICATE)):
        raise _no_release()


def _no_release() -> InputError:
    return InputError(
        "release-zip",
        "This zip holds no release that can be unpacked.",
        "Send the zip that Decide hands out, or put the folder into the project.",
    )


class _Reader:
    """Takes a form apart as it comes, and writes its one file once its name is known."""

    def __init__(self, boundary: bytes, file: BinaryIO, wanted: Callable[[str], bool]) -> None:
        self.name, self.complete = "", False
        self._file, self._wanted, self._inside = file, wanted, False
        self._header, self._value = b"", b""
        self.parser = MultipartParser(
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

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        if self._header.lower() == b"content-disposition" and not self.name:
            _, options = parse_options_header(self._value)
            if name := options.get(b"filename"):
                self.name = clean_name(name.decode("utf-8", "replace"), self._wanted)
                self._inside = True
        self._header, self._value = b"", b""

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._inside:
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
