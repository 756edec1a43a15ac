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


def _fields(**codes: str) -> dict[str, str]:
    """Each code, by the fields that codes are about."""
    return {code: field for field, several in codes.items() for code in several.split()}


_FILE = (
    "file- csv- excel- folder header- frame table- extra-missing source-changed json-line "
    "zip-table disk-full"
)
UPLOADED = _fields(file=f"upload- output- encoding separator decimal {_FILE}")
CHOSEN = _fields(path=f"project-path {_FILE}") | _fields(
    encoding="encoding",
    decimal="decimal",
    sheet="excel-sheet",
    separator="separator option-unused",
)
DATABASE = _fields(database=f"url url- database- project-path {_FILE}")
ROLES = _fields(
    columns="qi- sensitive- role- name-twice column- value-name band date-order recode- spec- "
    "hierarchy- missing-label decimal-long cells-many too-large csv-inexact output-type "
    "identifier- person person- survey-weight",
    events="event- events- value-missing project-path",
    r="r",
    k="k-",
    min_support="whole-number",
    max_attributes="views-too-many",
    rows_per_person="rows-per-person",
    views="view-",
    rare_unknown="rare- qi-rare",
    knowledge="knowledge-",
    population="population-",
    publish_apart="apart",
)
COARSER = _fields(recipe="recode- band", groups="hierarchy-")
PLAN = _fields(curve="r r- plan-")
FIND = _fields(seconds="find-", importance="find-importance")
RUN = _fields(
    method="method method-several compare-several",
    parameters="method- art- parameter- hierarchy- project-path emd m-number share whole-number "
    "smallest-group suppression lattice-too-large ranges-too-many rules-too-many table-below-k",
    model="model model- bandwidth extra-missing",
    r="r r- ineligible nothing-published suppression-limit",
    limit="limit",
    readers="reader reader- adversary",
    also="attack-",
    minutes="budget",
    follows="same-people",
)
AUDIT = {
    **_fields(released="audit-what project-path released-", key="key-", groups="groups-"),
    **UPLOADED,
}
VERIFY = _fields(
    release="project-path release- certificate- package- signatures- moves- verify-private",
    table="verify-table",
    file="upload- release-zip file-kind",
    knowledge="verify-knowledge knowledge-",
    private="private- facts-other record-kind rows-elsewhere",
)
CONTEXT = _fields(expiry="context-date")
DECISION = _fields(
    decision="decision-word", review="decision-date", despite="decision-despite", reason="decision-"
)

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
