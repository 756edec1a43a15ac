"""Which field of which page every error of the catalogue is about, so that it is said beside it.

A page refuses what it can see to be wrong. What only a run finds out is said on the run's page,
with a way to the field that it is about, and beside that field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from shoal.errors import InputError, ShoalError

if TYPE_CHECKING:
    from shoal.workbench.bench import Visit

TOP = "top"
"""The place of errors that no field is to blame for."""
Fields = Mapping[str, str]
"""Codes, or beginnings of them with a hyphen at the end, and the field of each."""


def _of(field: str, *codes: str) -> dict[str, str]:
    return dict.fromkeys(codes, field)


_FILE = (
    *("file-", "csv-", "excel-", "folder", "header-", "frame", "table-"),
    *("extra-missing", "source-changed", "json-line", "zip-table", "disk-full"),
)
_HOW = {
    **_of("encoding", "encoding"),
    **_of("decimal", "decimal"),
    **_of("sheet", "excel-sheet", "zip-table"),
    **_of("separator", "separator", "option-unused"),
}
UPLOADED: Fields = _of("file", "upload-", "output-", "encoding", "separator", "decimal", *_FILE)
CHOSEN: Fields = {**_HOW, **_of("path", "project-path", *_FILE)}
DATABASE: Fields = _of("database", "url", "url-", "database-", "project-path", *_FILE)
ROLES: Fields = {
    **_of("columns", "qi-", "sensitive-", "role-", "name-twice", "column-", "value-name"),
    **_of(
        "columns",
        "band",
        "date-order",
        "recode-",
        "spec-",
        "hierarchy-",
        "missing-label",
        "decimal-long",
    ),
    **_of(
        "columns",
        "cells-many",
        "too-large",
        "csv-inexact",
        "output-type",
        "identifier-",
        "person",
        "person-",
        "survey-weight",
    ),
    **_of("events", "event-", "events-", "value-missing"),
    **_of("events", "project-path"),
    **_of("r", "r"),
    **_of("k", "k-"),
    **_of("min_support", "whole-number"),
    **_of("max_attributes", "views-too-many"),
    **_of("rows_per_person", "rows-per-person"),
    **_of("views", "view-"),
    **_of("rare_unknown", "rare-", "qi-rare"),
    **_of("knowledge", "knowledge-"),
    **_of("population", "population-"),
    **_of("publish_apart", "apart"),
}
COARSER: Fields = {**_of("recipe", "recode-", "band"), **_of("groups", "hierarchy-")}
PLAN: Fields = _of("curve", "r", "r-", "plan-")
FIND: Fields = {**_of("seconds", "find-"), **_of("importance", "find-importance")}
RUN: Fields = {
    **_of("method", "method", "method-several", "compare-several"),
    **_of("parameters", "method-", "art-", "parameter-", "hierarchy-", "project-path", "emd"),
    **_of("parameters", "m-number", "share", "whole-number", "smallest-group", "suppression"),
    **_of("parameters", "lattice-too-large", "ranges-too-many", "rules-too-many"),
    **_of("parameters", "table-below-k"),
    **_of("model", "model", "model-", "bandwidth", "extra-missing"),
    **_of("r", "r", "r-", "ineligible", "nothing-published", "suppression-limit"),
    **_of("limit", "limit"),
    **_of("readers", "reader", "reader-", "adversary"),
    **_of("also", "attack-"),
    **_of("minutes", "budget"),
    **_of("follows", "same-people"),
}
AUDIT: Fields = {
    **_of("released", "audit-what", "project-path", "released-"),
    **_of("key", "key-"),
    **_of("groups", "groups-"),
    **UPLOADED,
}
VERIFY: Fields = {
    **_of("release", "project-path", "release-", "certificate-", "package-", "signatures-"),
    **_of("release", "moves-", "verify-private"),
    **_of("table", "verify-table"),
    **_of("file", "upload-", "release-zip", "file-kind"),
    **_of("knowledge", "verify-knowledge", "knowledge-"),
    **_of("private", "private-", "facts-other", "record-kind", "rows-elsewhere"),
}
CONTEXT: Fields = _of("expiry", "context-date")
DECISION: Fields = {
    **_of("decision", "decision-word"),
    **_of("review", "decision-date"),
    **_of("despite", "decision-despite"),
    **_of("reason", "decision-"),
}

PAGES: Mapping[str, Fields] = {
    "run": RUN,
    "roles": ROLES,
    "table": {**DATABASE, **CHOSEN},
    "audit": AUDIT,
    "verify": VERIFY,
}
"""Where to look, in this order, for what a run failed with; its own page comes first."""
OWN = {"audit": "audit", "verify": "verify", "plan": "roles", "find": "roles", "anonymize": "run"}
"""The page that a run of a kind is started from, or whose fields it is about."""


def beside(error: ShoalError | None, fields: Fields) -> dict[str, ShoalError]:
    """The error by the field that it is about."""
    if error is None:
        return {}
    code = error.code if isinstance(error, InputError) else ""
    return {field_of(code, fields) or TOP: error}


def field_of(code: str, fields: Fields) -> str | None:
    """The field that a code is about: the one named for it, or for the longest front of it."""
    if code in fields:
        return fields[code]
    fronts = [one for one in fields if one.endswith("-") and code.startswith(one)]
    return fields[max(fronts, key=len)] if fronts else None


def page_of(code: str, kind: str) -> str | None:
    """The page with the field that a run of a kind failed for."""
    first = OWN[kind]
    order: Iterable[str] = (first, *(page for page in PAGES if page != first))
    return next((page for page in order if field_of(code, PAGES[page])), None)


def failed_before(visit: Visit) -> ShoalError | None:
    """What the run failed with that an address names: the page was opened to mend it."""
    name = visit.asked("failed")
    told = visit.project.run(name).error if name else None
    return None if told is None else _KeptError(told["code"], told["text"], "")


class _KeptError(InputError):
    """An error as a run kept it: what to do about it stands in the same text."""
