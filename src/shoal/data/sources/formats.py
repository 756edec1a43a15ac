"""The forms of files that tables come in: one list, from which reading, writing and messages go."""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import dataclass
from pathlib import Path

from shoal.data.storage.location import redact
from shoal.errors import InputError


@dataclass(frozen=True)
class Format:
    """One form: its endings, the first bytes of such a file, whether shoal writes it too."""

    kind: str
    title: str
    endings: tuple[str, ...]
    magic: tuple[bytes, ...] = ()
    written: bool = False


FORMATS = (
    Format("text", "Text, a header row first", (".csv", ".tsv", ".txt"), written=True),
    Format("parquet", "Parquet", (".parquet", ".pq"), (b"PAR1",), written=True),
    Format("arrow", "Arrow IPC", (".arrow", ".ipc", ".feather"), (b"ARROW1",), written=True),
    Format("json", "JSON, an object in each line", (".jsonl", ".ndjson"), (b"{",)),
    Format("excel", "Excel (package fastexcel)", (".xlsx",)),
    Format("stata", "Stata (package pyreadstat)", (".dta",), (b"<stata_dta>",)),
    Format("spss", "SPSS (package pyreadstat)", (".sav", ".zsav"), (b"$FL2", b"$FL3")),
    Format("sas", "SAS (package pyreadstat)", (".sas7bdat",), (b"\0" * 12 + b"\xc2\xea\x81`",)),
    Format("sas", "SAS transport (package pyreadstat)", (".xpt",), (b"HEADER RECORD",)),
    Format("packed", "Any of these in a zip archive", (".zip",), (b"PK\3\4", b"PK\5\6")),
    Format("packed", "Any of these, by gzip", (".gz",), (b"\x1f\x8b",)),
    Format("packed", "Any of these, by Zstandard", (".zst",), (b"\x28\xb5\x2f\xfd",)),
)
KINDS = ("spss", "stata", "sas")
"""Those of statistics programs, with a codebook inside."""
TEXTS = (".csv", ".jsonl")
"""What `ending_of` says of text."""
STREAMED = (".gz", ".zst")
"""Text that is compressed so is read as it is; whatever else is compressed is unpacked first."""


def file_kind(path: Path) -> str | None:
    """What a file of that name holds, as in `FORMATS`; None if unknown."""
    ending = path.suffix.lower()
    if ending in STREAMED:
        inner = path.with_suffix("")
        kind = file_kind(inner) if inner.suffix else "packed"
        return kind if kind in ("text", None) else "packed"
    return next((one.kind for one in FORMATS if ending in one.endings), None)


def is_tabbed(path: Path) -> bool:
    """Whether the name, compressed or not, says that tabs separate."""
    inner = path.with_suffix("") if path.suffix.lower() in STREAMED else path
    return inner.suffix.lower() == ".tsv"


def ending_of(start: bytes) -> str:
    """The ending for a file without a telling name, by the bytes that it starts with."""
    begun = start.removeprefix(BOM_UTF8)
    found = (one for one in FORMATS if one.magic and begun.startswith(one.magic))
    return next(found, FORMATS[0]).endings[0]


def unknown_kind(path: Path) -> InputError:
    """The error for a name whose ending says nothing."""
    *plain, last = (ending for one in FORMATS for ending in one.endings)
    return InputError(
        "file-kind",
        f'The name "{redact(path)}" has no ending that is known.',
        f"Known endings: {', '.join(plain)} and {last}.",
    )
