"""Journal: every state that a project's draft and statements have had, so that none is lost.

A state is the text of the project's files. Each is a file of its own that is never changed, with
the number of the state before it; undo and redo move between them. What was changed without the
journal, by hand or by another program, is noted before anything else happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.workbench.project.files import now, read_json, write_json, write_text

FOLDER, HEAD = ".shoal-journal", "head.json"


@dataclass(frozen=True)
class State:
    """The texts of a project's files at one time; None for a file that was not there."""

    number: int
    time: str
    files: Mapping[str, str | None]
    before: int | None
    """The state that it was made from; none of the first."""


@dataclass(frozen=True)
class Journal:
    """The states of a project's files. Whoever changes them holds the project's lock."""

    project: Path
    names: tuple[str, ...]

    def note(self) -> State:
        """The state of the files as they are: the one that is current, or a new one."""
        at, files = self.current, self._texts()
        if at is not None and at.files == files:
            return at
        new = self.add(files)
        self._point(new, [])
        return new

    @property
    def current(self) -> State | None:
        """The state that was noted last, or gone back to; None before anything was noted."""
        number = self._head.get("at")
        return self.state(number) if number and self._file(number).is_file() else None

    @property
    def can_undo(self) -> bool:
        """Whether there is a state before this one."""
        at = self.current
        return at is not None and (at.before is not None or at.files != self._texts())

    @property
    def undone(self) -> list[int]:
        """The states that were gone back from, the next to come last."""
        return list(self._head.get("undone", []))

    def state(self, number: int) -> State:
        """A state by its number, or an InputError."""
        told = read_json(self._file(number)) or {}
        try:
            return State(number, told["time"], told["files"], told["before"])
        except KeyError:
            raise InputError(
                "journal-none", "There is no such change.", "Choose one that is listed."
            ) from None

    def states(self) -> Iterator[State]:
        """All states, the newest first."""
        for number in range(self._last, 0, -1):
            if self._file(number).is_file():
                yield self.state(number)

    def line(self) -> Iterator[State]:
        """The current state and those it was made from, the newest first."""
        one = self.current
        while one is not None:
            yield one
            known = one.before is not None and self._file(one.before).is_file()
            one = self.state(one.before) if known and one.before is not None else None

    def add(self, files: Mapping[str, str | None]) -> State:
        """Keeps a state that follows the current one, without going to it."""
        at, number = self._head.get("at"), self._last + 1
        self._folder.mkdir(mode=0o700, exist_ok=True)
        write_json(self._file(number), {"time": now(), "before": at, "files": dict(files)})
        return self.state(number)

    def undo(self) -> None:
        """Goes back by one state."""
        at = self.note()
        if at.before is None:
            raise _nothing("undo")
        self._go(self.state(at.before), [*self.undone, at.number])

    def redo(self) -> None:
        """Goes to the state that was gone back from last."""
        self.note()
        undone = self.undone
        if not undone:
            raise _nothing("redo")
        self._go(self.state(undone[-1]), undone[:-1])

    def restore(self, number: int) -> None:
        """Puts a state in its place as a change of its own, which can be undone."""
        self.note()
        self._write(self.state(number).files)
        self.note()

    def _go(self, state: State, undone: list[int]) -> None:
        self._write(state.files)
        self._point(state, undone)

    def _write(self, files: Mapping[str, str | None]) -> None:
        for name in self.names:
            text = files.get(name)
            if text is None:
                (self.project / name).unlink(missing_ok=True)
            else:
                write_text(self.project / name, text)

    def _texts(self) -> dict[str, str | None]:
        paths = {name: self.project / name for name in self.names}
        return {
            name: path.read_bytes().decode("utf-8", "backslashreplace") if path.is_file() else None
            for name, path in paths.items()
        }

    def _point(self, state: State, undone: list[int]) -> None:
        write_json(self._folder / HEAD, {"at": state.number, "undone": undone})

    @property
    def _folder(self) -> Path:
        return self.project / FOLDER

    @property
    def _head(self) -> dict[str, Any]:
        return read_json(self._folder / HEAD) or {}

    @property
    def _last(self) -> int:
        found = self._folder.glob("[0-9]*.json") if self._folder.is_dir() else ()
        return max((int(path.stem) for path in found), default=0)

    def _file(self, number: int) -> Path:
        return self._folder / f"{number:06d}.json"


def _nothing(what: str) -> InputError:
    return InputError("journal-none", f"There is nothing to {what}.", "Go on from here.")
