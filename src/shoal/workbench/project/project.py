"""Project: the folder of a table that is to be published, and all that is kept of it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.data.spec import Spec
from shoal.data.spec.toml_text import read_toml, toml_text
from shoal.errors import InputError
from shoal.workbench.project.commands import Steps
from shoal.workbench.project.context import TEXTS, Context
from shoal.workbench.project.files import (
    now,
    read_json,
    take,
    tell,
    waiting_for,
    write_json,
    write_text,
)
from shoal.workbench.project.journal import Journal, State
from shoal.workbench.project.run import KINDS, Run
from shoal.workbench.project.source import Source

PROJECT_FILE, SPEC_FILE, RUNS = "project.toml", "spec.toml", "runs"
LOCK, EDITING = ".shoal-lock", ".shoal-editing"
_NAME = re.compile(r"[0-9]{4,9}")


@dataclass(frozen=True)
class Project:
    """A folder; what it holds is read when it is asked for, and never kept in memory."""

    folder: Path

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> Project:
        """The project of a folder; with `create` the folder becomes one if it is none."""
        path = Path(folder).resolve()
        try:
            if create and not path.exists():
                path.mkdir(mode=0o700, parents=True)  # it will hold people's data
            if create:
                (path / RUNS).mkdir(parents=True, exist_ok=True)
            there = (path / PROJECT_FILE).is_file()
        except OSError as error:
            raise InputError(
                "project-folder",
                f'"{folder}" cannot be made a project: {error.strerror}.',
                "Name a folder that you may write to.",
            ) from None
        if not there and not create:
            raise InputError(
                "project-none",
                f'"{folder}" is no project: it holds no {PROJECT_FILE}.',
                "Name the folder of a project.",
            )
        if not os.access(path, os.W_OK):
            raise InputError(
                "project-folder",
                f'"{folder}" may not be written to by this user.',
                "Name a folder that you may write to.",
            )
        project = cls(path)
        if not there:
            write_text(path / PROJECT_FILE, toml_text({}))
        return project

    @classmethod
    def of_run(cls, folder: str | Path) -> tuple[Project, Run]:
        """A run by its folder, and the project that it is part of."""
        path = Path(folder).resolve()
        if path.parent.name != RUNS or not (path / "run.json").is_file():
            raise InputError(
                "run-none", f'"{folder}" is no run of a project.', "Name PROJECT/runs/NUMBER."
            )
        project = cls.open(path.parent.parent)
        return project, project.run(path.name)

    @property
    def source(self) -> Source | None:
        """Where the table lies, as commands name it in this folder; None if nobody said so yet."""
        kept = self._table("source")
        if not kept:
            return None
        try:
            return Source(**kept)
        except TypeError:
            raise InputError(
                "project-damaged",
                f"The [source] of {PROJECT_FILE} cannot be read.",
                "It has an address, and if need be how the file is read.",
            ) from None

    @property
    def table_path(self) -> str | None:
        """The table's address for whoever reads it from another working folder."""
        source = self.source
        return None if source is None else source.table_path(self.folder)

    def set_source(self, source: Source) -> None:
        """Keeps where the table lies."""
        self.keep(source=source)

    @property
    def draft(self) -> dict[str, Any]:
        """The spec as far as it is written; empty if it is not begun."""
        path = self.folder / SPEC_FILE
        return read_toml(path) if path.is_file() else {}

    def write_draft(self, mapping: Mapping[str, Any]) -> None:
        """Puts another draft in its place; it may lack things."""
        self.keep(draft=mapping)

    def keep(self, **changes: Any) -> None:
        """Puts what is given in its place, as one change that can be undone (see `_files_with`)."""
        with self.editing() as journal:
            for name, text in self._files_with(**changes).items():
                write_text(self.folder / name, text)
            journal.note()

    def aside(self, **changes: Any) -> State:
        """A state that is kept without being gone to, in case somebody chooses it later."""
        with self.editing() as journal:
            return journal.add({**journal.note().files, **self._files_with(**changes)})

    def _files_with(
        self,
        *,
        draft: Mapping[str, Any] | None = None,
        reasons: Mapping[str, str] | None = None,
        source: Source | None = None,
        statement: Mapping[str, Any] | None = None,
        guesses: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """The texts of the files that are others with what is given; of the statement what is not
        named stays. Of reasons it is kept which are shoal's own `guesses`."""
        before, changed, files = self._told(), dict[str, Any](), dict[str, str]()
        if source is not None:
            changed["source"] = vars(source.within(self.folder))
        changed["statement"] = {**before.get("statement", {}), **(statement or {})}
        if reasons is not None:
            same = (guesses or {}).items() & reasons.items()
            changed |= {"reasons": reasons, "guessed": dict(sorted(same))}
        whole = {**before, **{name: _filled(table) for name, table in changed.items()}}
        whole = {name: table for name, table in whole.items() if table != {}}
        if whole != before:
            files[PROJECT_FILE] = toml_text(whole)
        if draft is not None and not self._is_draft(draft):
            files[SPEC_FILE] = toml_text(draft)
        return files

    @property
    def journal(self) -> Journal:
        """The states that draft, table, reasons and statements have had."""
        return Journal(self.folder, (SPEC_FILE, PROJECT_FILE))

    def version(self) -> int:
        """The number of the state that the files are in."""
        with self.editing() as journal:
            return journal.note().number

    @contextmanager
    def editing(self) -> Iterator[Journal]:
        """Holds the project for a change of its files, with what they are noted beforehand."""
        with waiting_for(self.folder / EDITING):
            journal = self.journal
            journal.note()
            yield journal

    def spec(self) -> Spec:
        """The draft as a spec, or an InputError that says what is missing or wrong."""
        path = self.folder / SPEC_FILE
        if not path.is_file():
            raise InputError(
                "project-spec", "The project has no spec yet.", "Say what the columns are first."
            )
        return Spec.from_toml(path)

    @property
    def statement(self) -> dict[str, str]:
        """What a person stated, as far as it is text."""
        return _texts_in(self._table("statement"))

    @property
    def context(self) -> Context:
        """All that a person stated."""
        return Context.of({**self._table("statement"), **self.statement})

    def state(self, **fields: Any) -> None:
        """Keeps what a person states; what is empty takes a statement back."""
        Context.of(fields)
        self.keep(statement=fields)

    @property
    def reasons(self) -> dict[str, str]:
        """Why columns have their roles, by column."""
        return self._texts("reasons")

    @property
    def guessed(self) -> dict[str, str]:
        """Those of the reasons that shoal proposed."""
        return self._texts("guessed")

    def set_reasons(
        self, reasons: Mapping[str, str], *, guesses: Mapping[str, str] | None = None
    ) -> None:
        """Keeps why columns have their roles, and which of it are shoal's own `guesses`; of other
        columns nothing is kept."""
        self.keep(reasons=reasons, guesses=guesses)

    def runs(self) -> list[Run]:
        """All runs, the first one first, without those whose `run.json` is damaged."""
        folder = self.folder / RUNS
        found = sorted(folder.iterdir()) if folder.is_dir() else []
        runs = [Run(one) for one in found if _NAME.fullmatch(one.name) and _is_run(one)]
        return [run for run in runs if run.is_whole]

    def approved(self) -> list[Run]:
        """The runs whose release may be published, the first one first."""
        return [run for run in self.runs() if (run.decision or {}).get("decision") == "approved"]

    def run(self, name: str) -> Run:
        """The run of a number such as 0001, or an InputError."""
        folder = self.folder / RUNS / name if _NAME.fullmatch(name) else None
        if folder is None or not _is_run(folder):
            raise InputError("run-none", "There is no such run.", "Choose one of the project's.")
        return Run(folder)

    def new_run(self, kind: str, steps: Callable[[str], Steps], *, title: str = "") -> Run:
        """A run that waits to be started. `steps` makes its command lines from its folder, relative
        to the project's; it keeps the draft as it is now."""
        if kind not in KINDS:
            raise InputError(
                "run-kind", f'There is no run "{kind}".', f"Choose among: {', '.join(KINDS)}."
            )
        kept, source, folder = self.draft, self.source, self._next_folder()
        where = f"{RUNS}/{folder.name}"
        if kept:
            write_text(folder / SPEC_FILE, toml_text(kept))
        told = {
            "kind": kind,
            "steps": steps(where),
            "made": now(),
            "spec": kept,
            "source": None if source is None else source.address,
            "reasons": self.reasons,
            "guessed": self.guessed,
            "title": title,
        }
        write_json(folder / "run.json", told)
        return Run(folder)

    @contextmanager
    def lock(self, told: Mapping[str, Any] | None = None) -> Iterator[None]:
        """Holds the project for one server, which tells others its process and what else is
        `told`; an InputError with that if somebody holds it."""
        path = self.folder / LOCK
        handle = take(path)
        if handle is None:
            holder = read_json(path) or {}
            shown = ", ".join(f"{name} {value}" for name, value in holder.items())
            raise InputError(
                "project-held",
                f'"{self.folder}" is open already{f" ({shown})" if shown else ""}.',
                "Use that one, or close it first.",
            )
        try:
            tell(handle, {"process": os.getpid(), **(told or {})})
            yield
        finally:
            os.close(handle)

    def _next_folder(self) -> Path:
        """A new folder for a run; of two who ask at once, each gets its own."""
        runs = self.folder / RUNS
        runs.mkdir(exist_ok=True)
        taken = [int(one.name) for one in runs.iterdir() if _NAME.fullmatch(one.name)]
        number = max(taken, default=0)
        while True:
            number += 1
            folder = runs / f"{number:04d}"
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder

    def _table(self, name: str) -> dict[str, Any]:
        kept = self._told().get(name, {})
        return dict(kept) if isinstance(kept, dict) else {}

    def _texts(self, name: str) -> dict[str, str]:
        """A table of texts; what was written otherwise by hand is one too."""
        return {key: str(value) for key, value in self._table(name).items()}

    def _is_draft(self, draft: Mapping[str, Any]) -> bool:
        """Whether the spec says just this already; what was written by hand then stays as it is."""
        try:
            return (self.folder / SPEC_FILE).is_file() and self.draft == draft
        except InputError:
            return False

    def _told(self) -> dict[str, Any]:
        return read_toml(self.folder / PROJECT_FILE)


def draft_of(state: State) -> dict[str, Any]:
    """The draft of a state; empty where there was none, or none that can be read."""
    try:
        return tomllib.loads(state.files[SPEC_FILE] or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def stated_in(state: State) -> dict[str, str]:
    """What a person states in a state."""
    return _texts_in(tomllib.loads(state.files[PROJECT_FILE] or "").get("statement", {}))


def _texts_in(statement: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(text) for name, text in statement.items() if name in TEXTS}


def _filled(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table without what is empty."""
    return {key: value for key, value in table.items() if value not in ("", None, [], (), {})}


def _is_run(folder: Path) -> bool:
    return (folder / "run.json").is_file()
