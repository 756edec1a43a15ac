"""Tables that are elsewhere, piped in or compressed are brought to a private folder first.

So whatever a table comes through, it is read as any file is: the same checks, encodings and
columns. The folder is one of the system's temporary ones, for this user's eyes alone, and goes with
the program. PyArrow's file systems find credentials where their providers' own programs do; shoal
neither takes nor keeps any.
"""

from __future__ import annotations

import atexit
import glob
import os
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import cache
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from shoal.data.sources.formats import ending_of, file_kind, unknown_kind
from shoal.data.sources.text import PIECE, opened
from shoal.data.storage.location import PIPED, check_readable, parse_url, redact, remote_scheme
from shoal.errors import InputError, unknown

SHARE, LEAST = 0.5, 0.02
"""Of the free space of a disk, what a table may take; and of all, what it has to leave."""
PATIENCE = timedelta(seconds=30)
EMULATOR = {
    "AccountName": "devstoreaccount1",
    "AccountKey": "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",  # noqa: E501
    "BlobEndpoint": "http://127.0.0.1:10000/devstoreaccount1",
}
"""What UseDevelopmentStorage=true stands for: known to everybody, for tests on this machine."""
STORES_SAY = (
    (
        r"ACCESS.?DENIED|Authenti|Authoriz|INVALID.?ACCESS.?KEY|SIGNATURE|PERMISSION|Credential"
        r"|Token|\b40[13]\b",
        "the store does not let these credentials read it",
        "Log in as the provider's programs do (aws configure, az login, gcloud auth "
        "application-default login), or set its variables, and see that you may read there.",
    ),
    (
        r"NO_SUCH|NOT.?FOUND|does not exist|\b404\b",
        "the store has nothing of that name",
        "Check the bucket or container, and the path in it.",
    ),
    (
        r"curlCode|NETWORK|connect|resolve|time.?out|timed out|UNAVAILABLE",
        "the store does not answer",
        "Check its address (an endpoint, an account's name), the network and its proxy.",
    ),
)
"""What the messages of their libraries hold, what it means, and what to do."""
LOCAL = ("localhost", "127.0.0.1", "::1")
SHOWN = 8
_WORKBOOK = "xl/workbook.xml"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)


@dataclass(frozen=True)
class SourceKind:
    """The files behind an address, all of one kind; of a database, none."""

    kind: str
    """As in `FORMATS`; or folder, or database."""
    files: tuple[Path, ...] = ()
    packed: bool = False
    """Whether an archive was unpacked for them."""
    base: Path | None = None
    """Of what a pattern matches, the folder that holds all of it."""


def found(source: str | Path, sheet: str | None = None) -> SourceKind:
    """What an address leads to: a file, a folder, a database, what a pattern matches, what is piped
    in, or what a server has. `sheet` chooses among the tables of an archive."""
    text, base = str(source), None
    if text == PIPED or remote_scheme(text):
        files = _fetched(text)
    elif parse_url(text) is not None:
        return SourceKind("database")
    elif _is_folder(path := Path(source)):
        return SourceKind("folder", (path,))
    elif glob.has_magic(text) and not path.exists():
        fixed = next(number for number, part in enumerate(path.parts) if glob.has_magic(part))
        base = Path(*path.parts[:fixed])
        matched = sorted(base.glob("/".join(path.parts[fixed:])))
        files = tuple(one for one in matched if one.is_file())
        _refuse_none(files, text)
    else:
        files = (path,)
    kinds: dict[Path, str] = {}
    packed = False
    for file in files:
        kind = file_kind(file)
        if kind is None:
            check_readable(file)  # that a file is missing comes first
            raise unknown_kind(file)
        if kind == "packed":
            check_readable(file)
            stamp = file.stat()
            packed, archive, file = (
                True,
                file,
                _unpacked(file, sheet, stamp.st_mtime_ns, stamp.st_size),
            )
            kind = file_kind(file)
            if kind == "packed":
                problem = f'"{archive}" holds something that is compressed itself.'
                raise InputError("zip-table", problem, "Unpack it, and give the table itself.")
        kinds[file] = str(kind)
    if len(set(kinds.values())) > 1:
        raise InputError(
            "folder",
            f'"{redact(text)}" matches files of several formats.',
            "Give a pattern of one format, such as part-*.csv.",
        )
    (kind,) = set(kinds.values())
    return SourceKind(kind, tuple(kinds), packed, base)


def forget() -> None:
    """Has what is elsewhere fetched again."""
    _fetched.cache_clear()


@contextmanager
def named() -> Iterator[None]:
    """Has errors name a table as its user does, not the place that it was brought to."""
    try:
        yield
    except InputError as error:
        for path, name in sorted(_NAMES.items(), reverse=True):  # the longer ones first
            error.problem = error.problem.replace(path, name)
        error.args = (f"{error.problem} {error.remedy}",)
        raise


_NAMES: dict[str, str] = {}
"""What users call the files that were brought here."""


@cache
def _folder() -> Path:
    made = Path(tempfile.mkdtemp(prefix="shoal-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def _place(name: str, shown: str) -> Path:
    """Where a file of that name is brought to."""
    plain = "".join(sign if sign.isalnum() or sign in "._-" else "_" for sign in Path(name).name)
    made = Path(tempfile.mkdtemp(dir=_folder())) / (plain[-100:] or "table")
    _NAMES[str(made)] = shown
    return made


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except PermissionError:  # the folder that it lies in is closed
        check_readable(path)
        raise


def _refuse_none(files: Sequence[Any], text: str) -> None:
    if not files:
        problem = f'No file matches "{redact(text)}".'
        raise InputError("file-missing", problem, "Check the pattern.")


# --- Compressed --------------------------------------------------------------------------


@cache
def _unpacked(path: Path, sheet: str | None, changed: int, size: int) -> Path:
    """The table in a compressed file; the stamp says whether that is still the same."""
    shown = _NAMES.get(str(path), str(path))
    damaged = InputError(
        "file-damaged",
        f'"{shown}" cannot be unpacked: it is damaged, cut short or something else.',
        "Copy or compress it again.",
    )
    try:
        if path.suffix.lower() != ".zip":
            return _copied(opened(path), path.with_suffix("").name, shown)
        with zipfile.ZipFile(path) as archive:
            if _WORKBOOK in archive.namelist():
                return _copied(path.open("rb"), path.with_suffix(".xlsx").name, shown)
            part = _part(archive, sheet, shown)
            if part.flag_bits & 1:
                problem = f'"{shown}" is locked by a password.'
                raise InputError("zip-table", problem, "Unpack it, and give the table itself.")
            _refuse_large(part.file_size, shown)
            return _copied(archive.open(part), part.filename, f"{shown}/{part.filename}")
    except _DAMAGED:
        raise damaged from None


def _part(archive: zipfile.ZipFile, sheet: str | None, shown: str) -> zipfile.ZipInfo:
    """The table of an archive, or the one that is asked for. Where an archive says that it is to be
    unpacked to is of no matter."""
    parts: dict[str, zipfile.ZipInfo] = {}
    for one in archive.infolist():
        if one.is_dir() or Path(one.filename).name.startswith("."):
            continue
        if one.filename in parts:
            problem = f'"{shown}" holds two files "{one.filename}".'
            raise InputError("zip-table", problem, "Unpack it, and give the table that is meant.")
        parts[one.filename] = one
    tables = {name: one for name, one in parts.items() if file_kind(Path(name))}
    if sheet is not None:
        if sheet not in parts:
            problem = f'"{shown}" holds no file "{sheet}"'
            raise unknown("zip-table", problem, sheet, list(tables)[:SHOWN])
        return parts[sheet]
    if len(tables) == 1:
        return next(iter(tables.values()))
    if not tables:
        problem = f'"{shown}" holds no table that shoal reads.'
        raise InputError("zip-table", problem, "Unpack it, and give the table itself.")
    names = list(tables)[:SHOWN] + (["and others"] if len(tables) > SHOWN else [])
    raise InputError(
        "zip-table",
        f'"{shown}" holds {len(tables)} tables.',
        f"Choose one with --sheet (in Python sheet=): {', '.join(names)}.",
    )


def _copied(stream: Any, name: str, shown: str) -> Path:
    """What a stream gives, in a file; one whose name tells nothing is named by its start."""
    target, size = _place(name, shown), 0
    with stream, target.open("wb") as file:
        while piece := stream.read(PIECE):
            file.write(piece)
            size += len(piece)
            if size % (PIECE << 6) < len(piece):
                _refuse_large(0, shown)
        if getattr(stream, "length", None):
            raise _unreachable(shown, "it ended early", "Try once more.")
    if file_kind(target) is None:
        with target.open("rb") as file:
            target = target.rename(f"{target}{ending_of(file.read(16))}")
        _NAMES[str(target)] = shown
    return target


def _refuse_large(size: int, shown: str) -> None:
    """An InputError if so many bytes more would leave too little of the disk."""
    disk = shutil.disk_usage(_folder())
    if size > SHARE * disk.free or disk.free < LEAST * disk.total:
        raise InputError(
            "disk-full",
            f'"{shown}" takes more space than there is for it in "{tempfile.gettempdir()}".',
            "Set TMPDIR to a folder with more, or give a part of the table.",
        )


# --- Elsewhere ---------------------------------------------------------------------------


@cache
def _fetched(text: str) -> tuple[Path, ...]:
    """What is piped in, or lies on a server."""
    if text == PIPED:
        if sys.stdin.isatty():
            raise InputError("file-missing", "Nothing is piped in.", "Give a file, or pipe one.")
        return (_copied(os.fdopen(os.dup(sys.stdin.fileno()), "rb"), "piped", "what is piped in"),)
    shown, scheme = redact(text), remote_scheme(text)
    if scheme in ("http", "https"):
        return (_copied(_opened_page(text, shown), unquote(urlsplit(text).path), shown),)
    from pyarrow import ArrowException

    place = text.partition("://")[2]
    try:
        system = _store(scheme, place.partition("/")[0], shown)
        return tuple(
            _copied(system.open_input_stream(one, compression=None), one, f"{scheme}://{one}")
            for one in _matching(system, place, shown)
        )
    except (ArrowException, OSError) as error:
        raise _unreachable(shown, *_in_our_words(str(error))) from None


def _in_our_words(error: str) -> tuple[str, str]:
    """Why a store gave nothing, and what to do: its library's words may hold secrets."""
    words = re.sub(r"'[^']*'", "", error)  # names and addresses
    for found, why, remedy in STORES_SAY:
        if re.search(found, words, re.IGNORECASE):
            return why, remedy
    code = re.search(r"(?:AWS Error |Azure Error: \[|Status\()(\w+)", words)
    return f"the store says {code[1] if code else 'no'}", ""


def _store(scheme: str, bucket: str, shown: str) -> Any:
    """The file system behind an address, with the credentials that its provider's programs use."""
    from pyarrow import fs

    if scheme == "s3":
        endpoint = _setting("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
        _refuse_open(endpoint or "https://")
        region = _setting("AWS_REGION", "AWS_DEFAULT_REGION")
        if not region and not endpoint:
            region = fs.resolve_s3_region(bucket)
        return fs.S3FileSystem(region=region, endpoint_override=endpoint)
    if scheme == "gs":
        return fs.GcsFileSystem(retry_time_limit=PATIENCE)
    told = _azure_settings()
    end = urlsplit(told.get("BlobEndpoint", ""))
    account = told.get("AccountName") or end.netloc.partition(".")[0]
    if not account:
        why = "nothing says which storage account it belongs to"
        raise _unreachable(shown, why, "Set AZURE_STORAGE_ACCOUNT_NAME.")
    host = end.netloc or f"{account}.blob.{told.get('EndpointSuffix', 'core.windows.net')}"
    scheme = end.scheme or told.get("DefaultEndpointsProtocol", "https")
    _refuse_open(f"{scheme}://{host}")
    host = host.removeprefix(account) if host.startswith(f"{account}.") else host
    try:
        b64decode(told.get("AccountKey", ""), validate=True)
    except ValueError:  # the library would end the program
        why = "the key of its storage account is no key of Azure"
        raise _unreachable(shown, why, "Copy the key again.") from None
    token = told.get("SharedAccessSignature")
    return fs.AzureFileSystem(
        account,
        account_key=told.get("AccountKey"),
        sas_token=token and f"?{token.removeprefix('?')}",
        blob_storage_authority=host,
        dfs_storage_authority=host.replace(".blob.", ".dfs."),
        blob_storage_scheme=scheme,
        dfs_storage_scheme=scheme,
    )


def _azure_settings() -> dict[str, str]:
    """The account, its key and where it is: of a connection string, or of single variables."""
    text = _setting("AZURE_STORAGE_CONNECTION_STRING")
    if text:
        parts = dict(part.strip().partition("=")[::2] for part in text.split(";"))
        emulated = parts.get("UseDevelopmentStorage", "").lower() == "true"
        return EMULATOR if emulated else parts
    told = {
        "AccountName": _setting("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT"),
        "AccountKey": _setting("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_KEY"),
        "SharedAccessSignature": _setting("AZURE_STORAGE_SAS_TOKEN"),
    }
    return {name: value for name, value in told.items() if value}


def _setting(*names: str) -> str | None:
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _matching(system: Any, place: str, shown: str) -> list[str]:
    """The objects of a store that a place names, or matches as a pattern."""
    from pyarrow.fs import FileSelector, FileType

    if not glob.has_magic(place) or system.get_file_info(place).type is FileType.File:
        return [place]
    parts = place.split("/")
    fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    if not fixed:
        raise _unreachable(shown, "the pattern leaves open where to look", "Name the bucket.")
    listed = system.get_file_info(FileSelector("/".join(parts[:fixed]), recursive=True))
    names = sorted(
        one.path
        for one in listed
        if one.is_file
        and one.path.count("/") == place.count("/")
        and all(map(fnmatchcase, one.path.split("/"), parts))
    )
    _refuse_none(names, shown)
    return names


class _NoSecrets(HTTPRedirectHandler):
    """Follows no way on that leaves encryption."""

    def redirect_request(self, *given: Any) -> Any:
        _refuse_open(given[-1])
        return super().redirect_request(*given)


def _opened_page(text: str, shown: str) -> Any:
    """What a web server answers with."""
    _refuse_open(text)
    try:
        return build_opener(_NoSecrets).open(Request(text), timeout=PATIENCE.seconds)
    except HTTPError as error:
        raise _unreachable(shown, f"the server says {error.code} {error.reason}") from None
    except (OSError, HTTPException, ValueError) as error:
        raise _unreachable(shown, str(getattr(error, "reason", error))) from None


def _refuse_open(address: str) -> None:
    """An InputError if a table would travel for everybody to read."""
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in LOCAL:
        raise InputError(
            "url",
            f"{redact(address)} would send a table over the network unencrypted.",
            "Give an https:// address.",
        )


def _unreachable(shown: str, why: str, remedy: str = "") -> InputError:
    why = re.sub(r"\?[^\s'\"]+=[^\s'\"]*", "?***", why)
    return InputError(
        "url-unreachable",
        f"{shown} cannot be had: {why.rstrip('.')}.",
        remedy or "Check the address, and whether you may read it.",
    )
