"""Pages from templates: texts by `say`, foreign text made visible, everything escaped."""

from __future__ import annotations

import re
import secrets
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from shoal.report.charts.stored import Chart
from shoal.wording import LONGEST, people, percent, verdict_words, visible
from shoal.workbench.blame import page_of
from shoal.workbench.texts import TEXTS, say

if TYPE_CHECKING:
    from jinja2 import Environment

    from shoal.workbench.bench import Visit


NONE = "–"
"""What stands where there is no figure."""
WIDTHS = {"narrow": 340, "wide": 720}
"""In pixels, for phones and for wider screens: letters must not shrink with the chart."""


def drawn(name: str, chart: Chart) -> dict[str, Markup]:
    """A chart of the report's kind in each width, of which a page shows one."""
    from shoal.report.page import drawing

    return {
        size: Markup(drawing(f"{name}-{size}", chart, width=width))
        for size, width in WIDTHS.items()
    }


STEPS = ("table", "roles", "plan", "run", "runs")
PARENTS = {"coarser": "roles", "find": "plan", "compare": "runs", "look": "runs", "context": "runs"}
"""The step that a page is part of which is none itself."""
ASIDE = ("audit", "verify")
EDITED = ("home", "table", "roles", "coarser", "plan", "find", "run", "context", "changes")
"""The pages on which the draft is changed."""
LONG = 1200
LABELS = {
    "adversary": "run.readers",
    "attack": "run.also",
    "encoding": "table.encoding",
    "key": "audit.key",
    "limit": "run.limit",
    "model": "run.model",
    "person": "role.person",
    "private": "verify.private",
    "protect": "events.title",
    "recode": "roles.recode",
    "separator": "table.separator",
    "weight": "role.weight",
}
"""What options and commands are called on pages, where their own name does not lead there."""
_OPTION = re.compile(r"`?--([a-z][a-z-]*)`?(?: COLUMN\b)?")
_COMMAND = re.compile(r"[`“]shoal ([a-z]+)[^`”]*[`”]")
_PYTHON = re.compile(r" \(in Python:? [^()]*\)|, or \w+='[^']*'")


def page(visit: Visit, template: str, *, status: int, **shown: Any) -> Response:
    """A page, or the part of it that a page asks for."""
    place = visit.request.url.path.split("/")[1] or "home"
    text = (
        _templates()
        .get_template(f"{template}.html.j2")
        .render(
            place=place,
            folder=visit.project.folder.name,
            steps=STEPS,
            parents=PARENTS,
            aside=ASIDE,
            **_undo_buttons(visit, place),
            **shown,
        )
    )
    return HTMLResponse(text, status)


def _undo_buttons(visit: Visit, place: str) -> dict[str, Any]:
    """Whether there is something to undo or redo, on the pages that change the draft."""
    if place not in EDITED:
        return {"undo": None}
    journal = visit.project.journal
    told = {"back": place, "can": journal.can_undo, "undone": journal.undone, "went": None}
    if visit.request.url.query:
        from shoal.workbench.pages.changes import went  # the first page is there before Polars is

        told["went"] = went(visit, journal)
    return {"undo": told}


@lru_cache(maxsize=1)
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("shoal.workbench"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        say=say, verdict_words=verdict_words, page_of=page_of, new_page=new_page
    )
    environment.filters.update(
        people=people,
        percent=percent,
        visible=visible,
        visible_long=_visible_long,
        on_page=on_page,
        number=shown_number,
        tenths="{:,.1f}".format,
        duration=duration,
        when=_when,
    )
    return environment


def new_page() -> str:
    """A number of its own for a page that was asked for."""
    return secrets.token_urlsafe(9)


def on_page(text: str) -> str:
    """A sentence of the command line as a page has it: options by the labels of their fields,
    commands by the pages that do the same, and nothing of Python."""
    text = _PYTHON.sub("", text)
    text = _COMMAND.sub(lambda found: f"“{_label(found[1])}”", text)
    return _OPTION.sub(lambda found: f"“{_label(found[1])}”", text)


def _label(name: str) -> str:
    keys = (LABELS.get(name, ""), f"strength.{name.replace('-', '_')}", f"nav.{name}")
    return next((say(key) for key in keys if key in TEXTS), name.replace("-", " "))


def _visible_long(text: str) -> str:
    """A sentence, which may be longer than a cell, with foreign text in it."""
    pieces = (text[start : start + LONGEST] for start in range(0, min(len(text), LONG), LONGEST))
    return "".join(map(visible, pieces)) + ("…" if len(text) > LONG else "")


def shown_number(value: float | None) -> str:
    """A figure as people read it."""
    if value is None:
        return NONE
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.3g}"


def _when(time: str) -> str:
    """A time as it is kept, to the minute and without the signs that only machines need."""
    return time[:16].replace("T", " ")


def duration(seconds: float | None) -> str:
    """A time in words."""
    if seconds is None:
        return "unknown"
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
