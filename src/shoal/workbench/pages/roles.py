"""Roles: what every column is, what is protected and how strongly; beside it what that means."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from shoal.data.spec import Event, Spec
from shoal.data.spec.spec import FILES, parameters
from shoal.data.table import Table
from shoal.errors import InputError, ShoalError
from shoal.knowledge import Knowledge
from shoal.knowledge.attributes import attribute_sets
from shoal.planning.propose import Guess
from shoal.planning.supply import known_before
from shoal.workbench import drafting
from shoal.workbench.bench import Visit, go
from shoal.workbench.blame import ROLES, beside, failed_before
from shoal.workbench.drafting import Draft
from shoal.workbench.held import Held, key_of
from shoal.workbench.inside import table_files
from shoal.workbench.pages.changes import conflict
from shoal.workbench.project import plan_steps
from shoal.workbench.project.journal import State
from shoal.workbench.project.project import PROJECT_FILE, SPEC_FILE, draft_of
from shoal.workbench.rendering import new_page
from shoal.workbench.roles_form import CHOICES, FIGURES, RolesForm
from shoal.workbench.same import same_as

SHOWN_VALUES, SHOWN_EVENTS, SHOWN_MEMBERS = 60, 10, 4
FOLDED = 8
"""More columns than this that are not published fold away."""
MANY = 4
"""Columns from which on several can be given a role at once."""
NAMED = (*FIGURES, *CHOICES, "views", "rare_unknown", *FILES)
"""Fields that errors name by their key in the spec."""
STRENGTH = {
    "": ("r", "min_support"),
    "strength.outsiders": ("max_attributes", "views", "rare_unknown", "knowledge"),
    "strength.published": ("k", "rows_per_person", "population", *CHOICES),
}
"""The fields of a spec that say how strongly, under their headings."""
USUAL = {
    "min_support": "by rows",
    "max_attributes": "all",
    "knowledge": "the table's own",
    "rows_per_person": "all",
    "population": "none",
}
OF_COLUMN = {"band": "band", "role": "role"} | dict.fromkeys(
    ("recode", "hierarchy", "project"), "recode"
)


def show(visit: Visit) -> Response:
    return _page(visit, failed_before(visit))


def save(visit: Visit) -> Response:
    """Keeps what the form says, and does what its button is for."""
    held = _held(visit)
    if held is None:
        return go("/table")
    form = RolesForm(visit, held)
    try:
        with visit.bench.editing:
            if seen := _overtaken(visit):
                draft = form.draft(draft_of(seen))
                reasons = form.reasons(draft)
                mine = visit.project.aside(draft=draft, reasons=reasons, guesses=form.guesses)
                return conflict(visit, mine)
            draft = form.draft(_draft(visit, held))
            try:
                added = form.added(draft)
            except ShoalError:
                visit.project.keep(draft=draft, reasons=form.reasons(draft), guesses=form.guesses)
                raise
            visit.project.keep(draft=added, reasons=form.reasons(draft), guesses=form.guesses)
            visit.bench.wrote["roles"] = visit.text("page"), visit.project.version()
    except ShoalError as error:
        return _page(visit, error)
    if visit.request.headers.get("hx-request") or form.pressed[0] == "search":
        return _page(visit)
    done = f"/roles?done={visit.project.version()}"
    going = {
        "next": "/plan",
        "": "/roles",
        "propose": done,
        "clear": done,
        "bulk": "/roles#columns",
    }
    return go(going.get(form.pressed[0], "/roles#events"))


def _overtaken(visit: Visit) -> State | None:
    """The state that the page showed, if the roles were changed since, but by that page itself: a
    change may overtake the answer to the one before it."""
    seen, page = visit.text("version"), visit.text("page")
    with visit.project.editing() as journal:
        now = journal.note()
        if not seen.isdecimal() or int(seen) == now.number:
            return None
        shown = journal.state(int(seen))
        by, left = visit.bench.wrote.get("roles", ("", 0))
        of_page = by == page and _roles_of(journal.state(left)) == _roles_of(now)
        return None if of_page or _roles_of(shown) == _roles_of(now) else shown


def _roles_of(state: State) -> tuple[Any, Any]:
    """What the page of roles shows of a state."""
    told = tomllib.loads(state.files[PROJECT_FILE] or "")
    return state.files[SPEC_FILE], told.get("reasons", {})


def known(visit: Visit) -> Response:
    """The part of the page that takes a moment: who is known beforehand."""
    held = _held(visit)
    if held is None:
        return go("/table")
    version = visit.asked("v")
    visit.bench.looked_at["known"] = version
    try:
        table = held.table(visit.project.spec())
        if visit.bench.looked_at["known"] != version:  # nobody waits for the answer any more
            return Response(status_code=204)
        found = known_before(table)
    except ShoalError as error:
        return visit.page("roles_known", error=error, events=[], people=0, outside=False)
    order = sorted(range(len(found)), key=lambda e: (-int(found[e]), e))[:SHOWN_EVENTS]
    events = [(table.events[e].label, int(table.event_rows[e]), int(found[e])) for e in order]
    most = int(found.max(initial=0))
    outside = table.spec.knowledge is not None
    return visit.page("roles_known", error=None, events=events, people=most, outside=outside)


def _held(visit: Visit) -> Held | None:
    source = visit.project.source
    return None if source is None else visit.bench.tables.get(source, visit.project.folder)


def _folded(columns: list[dict[str, Any]], errors: Mapping[str, Any]) -> dict[str, Any]:
    """The columns in two: many that are not published, and are not at fault, fold away."""
    wrong = {name.rpartition("-")[2] for name in errors}
    quiet = [one for one in columns if one["role"] == "unpublished" and one["key"] not in wrong]
    folded = quiet if len(quiet) > FOLDED else []
    return {"shown": [one for one in columns if one not in folded], "folded": folded}


def _draft(visit: Visit, held: Held) -> Draft:
    return visit.project.draft or drafting.proposed(held.proposal)[0]


def _page(visit: Visit, error: ShoalError | None = None) -> Response:
    held, source = _held(visit), visit.project.source
    if held is None or source is None:
        return visit.page("needs_table")
    draft = _draft(visit, held)
    spec, table, wrong = _judged(held, visit, draft)
    columns = _columns(visit, held, draft)
    errors = _placed(error or wrong, columns) or _not_known(table, columns)
    return visit.page(
        "roles",
        status=visit.status(error),
        **_folded(columns, errors),
        roles=drafting.ROLES,
        many=len(columns) >= MANY,
        sections=_sections(visit, held, draft),
        events=_events(draft, table),
        most=SHOWN_MEMBERS,
        draft=draft,
        strength=STRENGTH,
        choices=CHOICES,
        figures=("r", "k", "min_support", "max_attributes"),
        usual=USUAL,
        meanings={one.name: one.help for one in parameters()},
        filled=_filled(draft),
        files=table_files(visit.project.folder),
        spec=spec,
        table=table,
        saved="refused" if error else "saved" if visit.project.draft else "unsaved",
        search=visit.text("search"),
        typed=visit.form if error else {},
        errors=errors,
        version=visit.project.version(),
        page=visit.text("page") or new_page(),
        **same_as(plan_steps(".", source)),
    )


def _filled(draft: Draft) -> dict[str, Any]:
    """What the draft says, as it stands in the fields."""
    plain = {name: draft.get(name, "") for name in NAMED}
    views, rare = drafting.views_text(draft), drafting.rare_unknown_text(draft)
    return {**plain, "views": views, "rare_unknown": rare}


def _judged(held: Held, visit: Visit, draft: Draft) -> tuple[Spec | None, Table | None, Any]:
    """The draft as a spec and the table that it makes, as far as either can be had."""
    try:
        spec = visit.project.spec() if visit.project.draft else Spec.from_mapping(draft)
    except ShoalError as error:
        return None, None, error
    try:
        return spec, held.table(spec), None
    except ShoalError as error:
        return spec, None, error


def _not_known(table: Table | None, columns: list[dict[str, Any]]) -> Mapping[str, ShoalError]:
    """Why what outsiders are taken to know cannot be had, beside the field that says it."""
    if table is None:
        return {}
    try:
        if table.spec.knowledge is None:
            attribute_sets(table)
        else:
            Knowledge.of(table)
    except ShoalError as error:
        return {"knowledge": error} if table.spec.knowledge else _placed(error, columns)
    return {}


def _columns(visit: Visit, held: Held, draft: Draft) -> list[dict[str, Any]]:
    kept = visit.project.reasons
    guesses = {guess.column: guess for guess in held.proposal.guesses}
    bands, recipes = drafting.band_texts(draft), drafting.recipe_texts(draft)
    return [
        {
            "name": name,
            "key": key_of(name),
            "profile": held.profiles[name],
            "role": drafting.role_of(draft, name),
            "reason": kept.get(name) or _guessed(guesses[name], drafting.role_of(draft, name)),
            "band": bands.get(name, ""),
            "recode": recipes.get(name, ""),
        }
        for name in held.columns
    ]


def _guessed(guess: Guess, role: str) -> str:
    """The reason of the proposal, if it is for this role."""
    return guess.reason if guess.role == role else ""


def _sections(visit: Visit, held: Held, draft: Draft) -> list[dict[str, Any]]:
    """The values of each sensitive column, those that are looked for."""
    sections, search = [], visit.text("search").casefold()
    events = drafting.events_of(draft)
    for name in drafting.names(draft.get("sensitive")):
        if name not in held.profiles:
            continue
        try:
            values = held.values(name, drafting.recipes_of(draft).get(name))
        except ShoalError:
            values = held.values(name)
        found = [one for one in values if search in one[0].casefold()]
        owner = {v: e.label for e in events if name in (e.column or (name,)) for v in e.values}
        sections.append(
            {
                "name": name,
                "key": key_of(name),
                "ordered": held.profiles[name].kind in ("number", "date"),
                "values": [
                    {"key": key_of(text), "text": text, "rows": rows, "event": owner.get(text)}
                    for text, rows in found[:SHOWN_VALUES]
                ],
                "found": len(found),
                "all": len(values),
            }
        )
    return sections


def _events(draft: Draft, table: Table | None) -> list[tuple[Event, int | None]]:
    """The events, and how many people have each."""
    rows = {}
    if table is not None:
        counts = table.event_rows.tolist()
        rows = {event.label: n for event, n in zip(table.events, counts, strict=True)}
    several = len(drafting.names(draft.get("sensitive"))) > 1
    return [
        (event, rows.get(event.name if several else event.label))
        for event in drafting.events_of(draft)
    ]


def _placed(error: ShoalError | None, columns: list[dict[str, Any]]) -> Mapping[str, ShoalError]:
    """The error beside the figure or the column that it is about."""
    if isinstance(error, InputError):
        for name in NAMED:
            missing = error.code == "spec-missing" and f'"{name}"' in error.problem
            if missing or error.problem.startswith((f"{name} ", f"{name}:")):
                return {name: error}
        field = OF_COLUMN.get(error.code.partition("-")[0])
        named = [one for one in columns if f'"{one["name"]}' in error.problem]
        if field and named:
            first = min(named, key=lambda one: _place(one["name"], error.problem))
            return {f"{field}-{first['key']}": error}
    return beside(error, ROLES)


def _place(name: str, sentence: str) -> tuple[int, int]:
    """Where a column is named first; of "age" and "age group" at the same place, the longer."""
    return sentence.index(f'"{name}'), -len(name)
