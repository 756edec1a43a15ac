"""How much memory shoal may take: what it is told (`--memory 2GB`), or a share of the machine's.

What would take more is refused with one sentence, before it is read or made. The figures are those
of shoal's own tables and arrays; Python and its libraries take some 200 MB beside them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from shoal.errors import InputError

SHARE = 0.5
"""Of the machine's memory, unless told otherwise."""
UNTOLD = 8 << 30
"""Bytes, where the machine does not say."""
PARSED = 32
"""So many times its size a file of JSON or TOML may take once it is parsed."""
LEAST = 10**7
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY_UNITS = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", re.ASCII | re.IGNORECASE)
_told: ContextVar[int | None] = ContextVar("memory", default=None)


@contextmanager
def memory_limit(size: str | int) -> Iterator[None]:
    """Within the block shoal takes no more memory for tables than that: bytes, or a text such as
    "2GB", "500 MB" or "1.5GiB".

    >>> import shoal
    >>> with shoal.memory_limit("100MB"):
    ...     hospital = shoal.datasets.hospital(2000, seed=0)
    """
    before = _told.set(parse_size(size))
    try:
        yield
    finally:
        _told.reset(before)


def allowed_memory() -> int:
    """The bytes that may be taken."""
    told = _told.get()
    return int(SHARE * machine_memory()) if told is None else told


def refuse_memory(needed: float, what: str, remedy: str = "") -> None:
    """An InputError if more would be taken than may be; `what` begins the sentence."""
    allowed = allowed_memory()
    if needed > allowed:
        raise InputError(
            "memory",
            f"{what} takes {size_words(needed)} of memory or more, and {size_words(allowed)} may "
            "be taken.",
            f"{remedy}{' ' if remedy else ''}Allow more with --memory (in Python: "
            "shoal.memory_limit), if the machine has more.",
        )


def read_text(path: str | Path, encoding: str = "utf-8") -> str:
    """The text of a file that will be parsed as a whole, unless it is too large for that."""
    file = Path(path)
    refuse_memory(PARSED * file.stat().st_size, f'To parse "{file}"')
    return file.read_text(encoding=encoding)


def parse_size(size: str | int) -> int:
    """The bytes that a size names."""
    found = _SIZE.fullmatch(str(size))
    unit = None if found is None else {**UNITS, **BINARY_UNITS}.get(found[2].lower())
    if found is None or unit is None or float(found[1]) * unit < LEAST:
        raise InputError(
            "memory-size",
            f'"{size}" is no amount of memory to work with.',
            "Give 10 MB or more, such as 2GB.",
        )
    return int(float(found[1]) * unit)


def size_words(size: float) -> str:
    """A number of bytes as people say it."""
    for name, unit in (("GB", 1e9), ("MB", 1e6)):
        if size >= unit:
            return f"{size / unit:,.1f} {name}"
    return f"{size:,.0f} bytes"


def machine_memory() -> int:
    """The bytes of memory that the machine has, or the part of it that this process may use."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        physical = UNTOLD
    return min([physical, *_own_group_limits(), *_process_limits()])


def _process_limits() -> list[int]:
    try:
        import resource
    except ImportError:  # Windows
        return []
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit <= 0:  # none
        return []
    # Of addresses, programs and their libraries take a good part.
    pages = _text(Path("/proc/self/statm")).partition(" ")[0]
    taken = int(pages) * resource.getpagesize() if pages.isdecimal() else 0
    return [max(LEAST, limit - taken)]


@cache
def _own_group_limits() -> tuple[int, ...]:
    return tuple(_group_limits())


def _group_limits(root: Path = Path("/"), own: Path = Path("/proc/self/cgroup")) -> list[int]:
    """The limits of the control groups that this process is in (Linux), of either version."""
    limits = []
    for line in _text(own).splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers not in ("", "memory"):
            continue
        base = root / "sys/fs/cgroup" / controllers
        file = "memory.limit_in_bytes" if controllers else "memory.max"
        group = base / path.strip("/")
        while group.is_relative_to(base):  # a container sees its own group at the top
            text = _text(group / file).strip()
            limits += [int(text)] if text.isdecimal() and int(text) else []
            group = group.parent
    return limits


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
