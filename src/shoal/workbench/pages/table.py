"""The table: dropped, chosen in the folder or named in a database, and what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from shoal.data.storage.location import parse_url, remote_scheme
from shoal.errors import InputError, ShoalError
from shoal.memory import size_words
from shoal.names import READING
from shoal.workbench.bench import Visit, go
from shoal.workbench.blame import CHOSEN, DATABASE, UPLOADED, Fields, beside, failed_before
from shoal.workbench.drafting import fits, proposed
from shoal.workbench.held import BINS, FEW, Held, Profile
from shoal.workbench.inside import inside, table_files
from shoal.workbench.project import Source
from shoal.workbench.same import same_as_init

TAB = {"tab": "\t", "\\t": "\t"}
"""How a sign is written that cannot be typed into a field."""


def show(visit: Visit) -> Response:
    source = visit.project.source
    fields = DATABASE if source is not None and source.is_url else CHOSEN
    return _page(visit, error=failed_before(visit), fields=fields)


def choose(visit: Visit) -> Response:
    """Takes a file of the folder, or a database."""
    typed = {name: visit.text(name) for name in ("path", "database", *READING)}
    in_database = "database" in visit.form
    try:
        address = (
            _database(visit, typed) if in_database else inside(visit.project.folder, typed["path"])
        )
        _take(visit, _read_as(address, typed))
    except ShoalError as error:
        return _page(visit, typed, error, DATABASE if in_database else CHOSEN)
    return go("/table")


def again(visit: Visit) -> Response:
    """Has the table read again, as the fields say."""
    visit.bench.tables.forget()
    typed = {name: visit.text(name) for name in READING}
    try:
        if (source := visit.project.source) is not None:
            _take(visit, _read_as(source.address, typed))
    except ShoalError as error:
        return _page(visit, typed, error, CHOSEN)
    return go("/table")


def _read_as(address: str, typed: Mapping[str, str]) -> Source:
    return Source(address, **{name: TAB.get(typed[name], typed[name]) or None for name in READING})


def refuse(visit: Visit, error: ShoalError) -> Response:
    """The page for a file that has not arrived."""
    return _page(visit, {}, error, UPLOADED)


def take(visit: Visit, path: str) -> Response:
    """Takes a file that has arrived. One that cannot be read as it is stands among those to
    choose from, beside the fields that say how it is written."""
    try:
        _take(visit, Source(path))
    except ShoalError as error:
        how = {"path": path, **dict.fromkeys(READING, "")}
        asks_how = isinstance(error, InputError) and CHOSEN.get(error.code) in READING
        return _page(visit, how, error, CHOSEN if asks_how else UPLOADED)
    return go("/table")


def _take(visit: Visit, source: Source) -> None:
    """Makes a source the project's, if it can be read. Another table begins with the roles that
    are proposed for it, unless it has all columns of the roles that were given before."""
    project = visit.project
    held = visit.bench.tables.get(source, project.folder)
    proposal = held.proposal  # an InputError for a table without rows
    other = project.source not in (None, source.within(project.folder))
    if not project.draft or (other and not fits(project.draft, held.columns)):
        draft, reasons = proposed(proposal)
        project.keep(source=source, draft=draft, reasons=reasons, guesses=reasons)
    else:
        project.keep(source=source)


def _database(visit: Visit, typed: dict[str, str]) -> str:
    """The address of a database; a file of DuckDB lies in the project's folder."""
    url = parse_url(typed["database"])
    if url is None and not remote_scheme(typed["database"]):
        raise InputError(
            "url",
            "This is no address of a database, or of a file on a server.",
            "Write duckdb:///file.db?table=people or postgresql://user@host/database?table=people, "
            "or an address with https://, s3://, gs:// or az://.",
        )
    if url is not None and url.path is not None:
        inside(visit.project.folder, str(url.path))
    return typed["database"]


def _page(
    visit: Visit,
    typed: dict[str, str] | None = None,
    error: ShoalError | None = None,
    fields: Fields | None = None,
) -> Response:
    project, limit = visit.project, visit.bench.upload_limit
    errors, held, source = beside(error, fields or {}), None, project.source
    if source is not None:
        try:
            held = visit.bench.tables.get(source, project.folder)
        except ShoalError as broken:
            errors.setdefault("top", broken)
    choosing = "path" in (typed or {})
    usual = dict.fromkeys(("path", "database", *READING), "")
    return visit.page(
        "table",
        status=visit.status(error),
        source=source,
        held=held,
        files=table_files(project.folder),
        typed=usual | _kept(source) | (typed or {}),
        read=_read(source) | ({} if choosing else typed or {}),
        choosing=choosing,
        errors=errors,
        limit=limit,
        limit_words=size_words(limit),
        shape=_shape,
        **_same(held, source),
    )


def _kept(source: Source | None) -> dict[str, str]:
    """Which file or database is chosen; how it is read is said of no other."""
    return {} if source is None else {"database" if source.is_url else "path": source.address}


def _read(source: Source | None) -> dict[str, str]:
    """How the table at hand is read."""
    if source is None:
        return dict.fromkeys(READING, "")
    told = {name: value or "" for name, value in vars(source).items() if name in READING}
    return told | ({"separator": "tab"} if source.separator == "\t" else {})


def _same(held: Held | None, source: Source | None) -> dict[str, Any]:
    return {} if held is None or source is None else same_as_init(source)


def _shape(one: Profile) -> str:
    """What a column's drawing shows, in words."""
    if one.numeric and one.distinct > FEW:
        return f"Rows by range of values, from {one.low} to {one.high}"
    if one.distinct > BINS:
        return f"The {BINS} commonest of {one.distinct:,} values, commonest first"
    return "Rows by value, the commonest first"
