"""Locks that the system itself gives up when their holder ends, however it ends."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shoal.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PATIENCE = 1.0
"""Seconds for which a lock is tried: a look at it takes it for a moment too."""


def take(path: Path) -> int | None:
    """The handle of a file that is locked from now on until the handle and its copies in other
    processes are closed; None if somebody else has it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    until = time.monotonic() + PATIENCE
    while not _locked(handle, shared=False):
        if time.monotonic() > until:
            os.close(handle)
            return None
        time.sleep(0.02)
    return handle


def tell(handle: int, held: Mapping[str, Any]) -> None:
    """Writes into a locked file who holds it."""
    os.truncate(handle, 0)
    os.pwrite(handle, json.dumps(held).encode(), 0)


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock of a file."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not _locked(handle, shared=True)
    finally:
        os.close(handle)


@contextmanager
def waiting_for(path: Path) -> Iterator[None]:
    """Holds a lock that others hold for a moment only."""
    while (handle := take(path)) is None:
        continue
    try:
        yield
    finally:
        os.close(handle)


def _locked(handle: int, *, shared: bool) -> bool:
    if fcntl is None:
        raise InputError(
            "project-system",
            "This system has no locks that a project needs.",
            "Work in a project on Linux or macOS.",
        )
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
