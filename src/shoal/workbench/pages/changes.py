"""Changes: every state of the draft, one step back or forth, and any of them put back."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice

from starlette.responses import Response

from shoal.errors import InputError
from shoal.workbench.bench import Visit, go
from shoal.workbench.changes import change_words, differences
from shoal.workbench.project.journal import Journal, State

MOST = 200
BACK = ("table", "roles", "coarser", "plan", "find", "run", "context", "changes")
"""The pages that undo and redo lead back to."""


def show(visit: Visit) -> Response:
    """All states, the newest first."""
    with visit.project.editing() as journal:
        at = journal.note()
    lines = [(one, change_words(journal, one)) for one in islice(journal.states(), MOST)]
    return visit.page("changes", lines=lines, at=at)


def undo(visit: Visit) -> Response:
    with visit.bench.editing, visit.project.editing() as journal:
        number = journal.note().number
        journal.undo()
    return _back(visit, f"undone={number}")


def redo(visit: Visit) -> Response:
    with visit.bench.editing, visit.project.editing() as journal:
        journal.redo()
        number = journal.note().number
    return _back(visit, f"redone={number}")


def put(visit: Visit) -> Response:
    """Puts a state in its place, as a change of its own."""
    number = visit.text("state")
    with visit.bench.editing, visit.project.editing() as journal:
        journal.restore(int(number) if number.isdecimal() else 0)
    return _back(visit, f"put={number}")


def conflict(visit: Visit, mine: State) -> Response:
    """Both versions, where a page was changed that was no longer true: as it is kept now, and as
    the page had it, of which one is chosen."""
    with visit.project.editing() as journal:
        kept = journal.note()
    found = differences(kept.files, mine.files)
    return visit.page("conflict", status=422, found=found, mine=mine, back=_place(visit))


def went(visit: Visit, journal: Journal) -> tuple[str, str] | None:
    """What was just undone, redone or put back, for the page that this led to."""
    for what in ("undone", "redone", "put", "done"):
        number = visit.asked(what)
        if number.isdecimal():
            with suppress(InputError):  # an address that was typed, or a state that is gone
                return what, change_words(journal, journal.state(int(number)))
    return None


def _place(visit: Visit) -> str:
    place = visit.text("back") or visit.request.url.path.split("/")[1]
    return place if place in BACK else ""


def _back(visit: Visit, what: str) -> Response:
    return go(f"/{_place(visit)}?{what}")
