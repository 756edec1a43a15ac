"""Coarser: what recodings of one column do to its values and to who stands alone; one of them, or
groups of values typed here, becomes the draft's."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from shoal.data.spec import MISSING
from shoal.errors import ShoalError
from shoal.workbench import drafting
from shoal.workbench.bench import TableAsked, Visit, after_roles, go
from shoal.workbench.blame import COARSER, beside
from shoal.workbench.coarsening import Coarsening, Effect, groups_of, keep_groups
from shoal.workbench.held import key_of

MOST_GROUPED, SHOWN_VALUES, SHOWN_MEMBERS = 200, 60, 8


@after_roles
def tried(visit: Visit, asked: TableAsked) -> Response:
    """What recodings do, as a part of the page."""
    mine, kept = _of(visit, asked), _kept(visit, asked)
    shown = visit.asked("recipe") or kept
    effects = mine.effects(["", kept, shown, *mine.suggested()])
    try:
        becomes = mine.becomes(shown)
    except ShoalError:
        becomes = []
    return visit.page(
        "coarser_part",
        column=mine.column,
        key=key_of(mine.column),
        kept=kept,
        shown=shown,
        effects=[(text, one if isinstance(one, Effect) else None, one) for text, one in effects],
        k=mine.k,
        rows=mine.plain().rows,
        becomes=becomes[:SHOWN_VALUES],
        more=max(0, len(becomes) - SHOWN_VALUES),
        most=SHOWN_MEMBERS,
        top=max((count for _, count, _ in becomes), default=1),
    )


@after_roles
def use(visit: Visit, asked: TableAsked) -> Response:
    """Writes a recoding into the draft."""
    mine, text = _of(visit, asked), visit.text("recipe")
    try:
        mine.effect(text)
        with visit.bench.editing:
            draft = visit.project.draft
            recipes = drafting.recipe_texts(draft) | {mine.column: text}
            draft = drafting.with_recipes(draft, recipes)
            if text:
                bands = drafting.band_texts(draft) | {mine.column: ""}
                draft = drafting.with_bands(draft, bands)
            visit.project.write_draft(draft)
    except ShoalError as error:
        return _page(visit, asked, error)
    return go(_place(mine))


@after_roles
def groups(visit: Visit, asked: TableAsked) -> Response:
    """Keeps groups of values as a hierarchy, and shows what it does."""
    mine = _of(visit, asked)
    typed = {value: visit.text(f"g-{key_of(value)}") for value, _ in _values(mine)}
    try:
        file = keep_groups(visit.project.folder, mine.column, typed)
    except ShoalError as error:
        return _page(visit, asked, error, typed)
    return go(_place(mine, recipe=f"hierarchy={file}"))


def _page(
    visit: Visit,
    asked: TableAsked,
    error: ShoalError | None = None,
    typed: dict[str, str] | None = None,
) -> Response:
    mine, kept = _of(visit, asked), _kept(visit, asked)
    recipe = visit.text("recipe") or visit.asked("recipe")
    values = _values(mine)
    if typed is None:
        try:
            typed = groups_of(visit.project.folder, mine.column, recipe or kept)
        except ShoalError:
            typed = {}
    return visit.page(
        "coarser",
        column=mine.column,
        key=key_of(mine.column),
        columns=[(name, key_of(name)) for name in _columns(visit, asked)],
        recipe=recipe,
        address=_place(mine, "/coarser/tried", recipe=recipe),
        values=[(text, rows, key_of(text), typed.get(text, "")) for text, rows in values],
        names=sorted({part.strip() for one in typed.values() for part in one.split(">")} - {""}),
        grouped=0 < len(values) <= MOST_GROUPED,
        numeric=mine.held.profiles[mine.column].numeric,
        errors=beside(error, COARSER),
    )


show = after_roles(_page)


def _of(visit: Visit, asked: TableAsked) -> Coarsening:
    held = visit.bench.tables.get(asked.source, visit.project.folder)
    columns = _columns(visit, asked)
    wanted = visit.text("column") or visit.asked("column")
    most = max(columns, key=lambda name: held.profiles[name].distinct)
    column = next((name for name in columns if key_of(name) == wanted), most)
    return Coarsening(held, asked.spec, column, visit.project.folder)


def _columns(visit: Visit, asked: TableAsked) -> list[str]:
    held = visit.bench.tables.get(asked.source, visit.project.folder)
    return [name for name in asked.spec.qi if name in held.profiles]


def _kept(visit: Visit, asked: TableAsked) -> str:
    """The draft's recoding of the column."""
    return drafting.recipe_texts(visit.project.draft).get(_of(visit, asked).column, "")


def _values(mine: Coarsening) -> list[tuple[str, int]]:
    """The column's values and their people, if they are few enough to be grouped by hand."""
    found = [one for one in mine.held.values(mine.column) if one[0] != MISSING]
    return found if len(found) <= MOST_GROUPED else []


def _place(mine: Coarsening, path: str = "/coarser", **more: Any) -> str:
    return f"{path}?{urlencode({'column': key_of(mine.column)} | more)}"
