"""Several folders into their places as one: all of them, or none.

No system renames two folders in one step. So when all new folders are whole and on disk, a notice
of the moves is written beside every target. From then on the new folders count: whoever finds a
notice, be it the run itself or the next one that reads or writes any of the targets, makes the
moves that are still missing and takes the notices away. A move that fails undoes those before it.

Whether a move was made is seen from the disk: the notice has the digest of what each new folder
holds. Two folders that hold the same are as good as one another.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shoal.data.storage.hidden import flush, hidden, leftovers, locked, notice_of, target_of
from shoal.data.storage.swap import put_back, swap
from shoal.errors import InputError


@dataclass(frozen=True)
class Move:
    """A new folder under its hidden name, where it belongs, and what it holds."""

    new: Path
    target: Path
    digest: str

    @property
    def waits(self) -> bool:
        """Whether the move is still to be made."""
        return self.new.is_dir() and _digest(self.new) == self.digest

    @property
    def made(self) -> bool:
        """Whether the new folder is in its place."""
        return self.target.is_dir() and _digest(self.target) == self.digest


def move_into_place(news: Sequence[Path], targets: Sequence[Path]) -> None:
    """Moves the new folders to their targets. Holds: the locks of `settled`, and everything is on
    disk but the names of the new folders."""
    if len(news) == 1:
        swap(news[0], targets[0])
        flush(targets[0].parent)
        _forget_old(targets)
        return
    moves = [Move(new, at, _digest(new)) for new, at in zip(news, targets, strict=True)]
    for folder in _parents(targets):
        flush(folder)
    try:
        for target in targets:
            _notify(target, moves)
        _make(moves)
    except BaseException:
        _put_back(moves)
        _take_away(targets)
        raise
    _take_away(targets)
    _forget_old(targets)


def recover_folder(path: str | Path) -> None:
    """Finishes what a killed run began with this folder and those that go with it."""
    target = Path(path).resolve()
    if not target.parent.is_dir() or not os.access(target.parent, os.R_OK):
        return
    try:
        while moves := _noticed(target):
            targets = [move.target for move in moves]
            with locked(*_parents(targets)):
                if _noticed(target) == moves:
                    _make(moves)
                    _take_away(targets)
                    _forget_old(targets)
        with locked(target.parent):
            put_back(target)
    except OSError as error:
        raise InputError(
            "moves-unfinished",
            f'A run was stopped while it put "{path}" into place, and that cannot be finished: '
            f"{error.strerror or error}.",
            "Run this once as somebody who may write there.",
        ) from None


@contextmanager
def settled(targets: Sequence[Path]) -> Iterator[None]:
    """Holds the locks of the targets' parents, with nothing left to recover."""
    while True:
        for target in targets:
            recover_folder(target)
        with locked(*_parents(targets)):
            if not any(notice_of(target).exists() for target in targets):
                yield
                return


def _make(moves: Sequence[Move]) -> None:
    """Makes the moves that still wait. If somebody took a new folder away, none of the others is
    moved either."""
    if all(move.waits or move.made for move in moves):
        for move in moves:
            if move.waits:
                swap(move.new, move.target)
    for folder in _parents([move.target for move in moves]):
        flush(folder)


def _put_back(moves: Sequence[Move]) -> None:
    """Puts old folders back where moves were made."""
    for move in moves:
        if move.waits or not move.made:
            put_back(move.target)
        elif move.new.is_dir():  # the old folder, under that name
            swap(move.new, move.target)
        else:
            move.target.rename(move.new)
            put_back(move.target)
    for folder in _parents([move.target for move in moves]):
        flush(folder)


def _notify(target: Path, moves: Sequence[Move]) -> None:
    """Writes the notice beside a target. New folders beside it go by name, others by path, so that
    a folder which is moved elsewhere with all that it holds can still be mended there."""
    entries = {
        move.new.name if move.new.parent == target.parent else str(move.new): move.digest
        for move in moves
    }
    new = hidden(target, "new")
    try:
        new.write_text(json.dumps(entries), encoding="utf-8")
        flush(new)
        new.replace(notice_of(target))
    finally:
        new.unlink(missing_ok=True)
    flush(target.parent)


def _noticed(target: Path) -> list[Move]:
    """The moves of the notice beside a target, if there is one."""
    notice = notice_of(target)
    try:
        entries = json.loads(notice.read_text(encoding="utf-8"))
        found = [(target.parent / new, str(digest)) for new, digest in entries.items()]
    except FileNotFoundError:
        return []
    except (ValueError, AttributeError, TypeError, RecursionError):
        found = []
    moves = [Move(new, at, digest) for new, digest in found if (at := target_of(new))]
    if target not in [move.target for move in moves] or len(moves) < len(found):
        raise InputError(
            "moves-unfinished",
            f'"{notice}" should say which folders a stopped run was to put into place, and '
            "does not.",
            "Remove it, and make the release again.",
        )
    return moves


def _take_away(targets: Sequence[Path]) -> None:
    for target in reversed(targets):
        notice_of(target).unlink(missing_ok=True)
    for folder in _parents(targets):
        flush(folder)


def _forget_old(targets: Sequence[Path]) -> None:
    for target in targets:
        for old in leftovers(target, "old"):
            shutil.rmtree(old, ignore_errors=True)


def _parents(targets: Sequence[Path]) -> list[Path]:
    return sorted({target.parent for target in targets})


def _digest(folder: Path) -> str:
    """The SHA-256 of a folder: its files' names and what they hold."""
    whole = hashlib.sha256()
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            file = Path(parent) / name
            with file.open("rb") as stream:
                held = hashlib.file_digest(stream, "sha256").hexdigest()
            whole.update(f"{file.relative_to(folder).as_posix()}\0{held}\n".encode())
    return whole.hexdigest()
