"""See the data: a release beside the table that it was made of. The page is there at once; what
needs the release's tables comes after it, part by part."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from starlette.responses import Response

from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.errors import InputError, ShoalError
from shoal.knowledge import Knowledge
from shoal.release import Release
from shoal.release.pair import ROW_GROUPS
from shoal.workbench import looking
from shoal.workbench.bench import Visit, go, last_run
from shoal.workbench.held import Held
from shoal.workbench.project import Run
from shoal.workbench.verdicts import facts_of

EXACT_ONLY = "Shown only where people are published with their exact attributes."
NO_CASE = "This group holds no protected value, so it links nobody to one."
SHOWN_GROUPS, SHOWN_PEOPLE, MOST_OPTIONS, SHOWN_VIEWS = 4, 12, 200, 8


def show(visit: Visit) -> Response:
    """The page of one release: how its columns are distributed, and places for all else."""
    name = visit.asked("run")
    run = visit.project.run(name) if name else last_run(visit, "anonymize")
    if run is None or run.kind != "anonymize" or run.state != "done":
        return go("/runs")
    facts = facts_of(run)
    runs = [one for one in visit.project.runs() if one.kind == "anonymize" and one.state == "done"]
    return visit.page(
        "look",
        run=run,
        runs=runs,
        columns=[] if facts is None else [one for one in facts.loss if one.bars],
        top_of=lambda bars: max(max(bar.before, bar.after) for bar in bars) or 1,
    )


def groups(visit: Visit) -> Response:
    """The groups with the most exposed people, before and after."""
    run, release = _opened(visit)
    facts = facts_of(run)
    most = [] if facts is None else [int(one.group) for one in facts.people]
    first = release.sensitive_runs.first[:SHOWN_GROUPS].tolist()
    gids = list(dict.fromkeys([*most, *map(int, first)]))[:SHOWN_GROUPS]
    found = [one for gid in gids if (one := looking.group_of(release, gid)) is not None]
    held = _table_of(visit, run)
    return visit.page(
        "look_groups",
        run=run,
        qi=release.spec.qi,
        sensitive=release.spec.sensitive_columns,
        groups=found,
        before=None if held is None else _rows(run, held, release.spec, gids),
        most=SHOWN_PEOPLE,
    )


def group(visit: Visit) -> Response:
    """One group, opened: everybody in it, and how each attribute moves the link of one of them."""
    run, release = _opened(visit)
    text, person = visit.asked("gid"), visit.asked("person")
    found = looking.group_of(release, int(text)) if text.isdecimal() and len(text) < 16 else None
    if found is None:
        return visit.page("look_group", run=run, found=None)
    who = _most_exposed(run, found)
    if person.isdecimal() and len(person) < 9:
        who = min(int(person), len(found.people) - 1)
    table = _counted(visit, run)
    moved, why = [], ""
    if table is None:
        why = "The table is another now, so what is known beforehand cannot be counted."
    elif table.several is not None:
        why = "Shown for one sensitive column only."
    else:
        moved = looking.moved(table, Knowledge.of(table), found, who)
        holds = any(one.label == value for one in table.events for value, _ in found.values)
        if not moved:
            why = EXACT_ONLY if holds else NO_CASE
    return visit.page(
        "look_group",
        run=run,
        found=found,
        who=who,
        qi=release.spec.qi,
        weights=release.weight is not None,
        moved=moved,
        why=why,
        most=SHOWN_VIEWS,
    )


def _most_exposed(run: Run, found: looking.Group) -> int:
    """The place of the most exposed of a group's people, as far as a record names one."""
    facts = facts_of(run)
    for one in [] if facts is None else facts.people:
        shown = tuple(map(str, one.person.values()))
        places = [n for n, (who, *_) in enumerate(found.people) if who == shown]
        if one.group == str(found.gid) and places:
            return places[0]
    return 0


def like(visit: Visit) -> Response:
    """What would be said about somebody with some attributes."""
    run, release = _opened(visit)
    columns = release.coded.columns
    where = {one.name: t for one in columns if (t := visit.text(f"q-{one.name}"))}
    spec = release.spec
    table, error, whole = _counted(visit, run), None, None
    said: list[tuple[str, list[looking.ValueLine]]] = []
    try:
        for column in spec.sensitive_columns:
            alone = None if table is None or table.several is not None else table
            whole, lines = looking.like(release, alone, where, column)
            said.append((column, lines))
    except ShoalError as wrong:
        error = wrong
    return visit.page(
        "look_like",
        run=run,
        asks=[(one.name, one.labels[:MOST_OPTIONS]) for one in columns],
        where=where,
        whole=whole,
        said=said,
        error=error,
        top_of=_top,
    )


def crossed(visit: Visit) -> Response:
    """How many people have a value, by an attribute: in the table, and by the release."""
    run, release = _opened(visit)
    table = _counted(visit, run)
    if table is None or table.several is not None:
        return visit.page("look_crossed", run=run, lines=None)
    names = [one.name for one in table.qi]
    qi = visit.text("by") if visit.text("by") in names else names[0]
    also = visit.text("also") if visit.text("also") in names and visit.text("also") != qi else ""
    first = table.events[0].label if table.events else table.values[0]
    usual = first if first in table.values else table.values[0]
    value = visit.text("value") if visit.text("value") in table.values else usual
    column = release.spec.sensitive_columns[0]
    lines = looking.crossed(release, table, [qi, also] if also else [qi], column, value)
    return visit.page(
        "look_crossed",
        run=run,
        names=names,
        qi=qi,
        also=also,
        values=table.values[:MOST_OPTIONS],
        value=value,
        lines=lines,
        top_of=_top,
    )


def _top(lines: list[looking.ValueLine]) -> float:
    """The widest bar of some lines."""
    return max([1.0, *(max(line.after.interval[1], line.before or 0) for line in lines)])


def _opened(visit: Visit) -> tuple[Run, Release]:
    run = visit.project.run(visit.text("run") or visit.asked("run"))
    return run, visit.bench.releases.get(run.folder / "release")


def _table_of(visit: Visit, run: Run) -> Held | None:
    """The table that a run was made from, if it still is the project's."""
    source = visit.project.source
    if source is None or not run.is_of(source):
        return None
    return visit.bench.tables.get(source, visit.project.folder)


def _counted(visit: Visit, run: Run) -> Table | None:
    """Its counted cells, as the run's spec has them."""
    held = _table_of(visit, run)
    if held is None:
        return None
    try:
        table = held.table(Spec.from_mapping(run.made["spec"]))
    except InputError:  # a file that the spec names is elsewhere now
        return None
    facts = facts_of(run)
    return table if facts is not None and facts.verdict.rows == table.rows else None


def _rows(
    run: Run, held: Held, spec: Spec, gids: list[int]
) -> list[tuple[int, tuple[Any, ...]]] | None:
    """The rows of the table whose people are in some groups, in the table's order of attributes, so
    that who is with whom shows by the group alone; None where no record is by row."""
    record = run.folder / "private" / ROW_GROUPS
    if not record.is_file():
        return None
    mine = pl.scan_parquet(record).filter(pl.col("gid").is_in(gids)).select("row", "gid").collect()
    rows = mine["row"].to_numpy().astype(np.int64)
    if len(rows) and rows.max() >= held.rows:
        return None
    columns = [*spec.qi, *spec.sensitive_columns]
    shown = held.frame[rows].select(pl.col(columns).cast(pl.String).fill_null("(missing)"))
    lines = zip(mine["gid"].to_list(), shown.rows(), strict=True)
    return sorted(lines, key=lambda one: one[1])
