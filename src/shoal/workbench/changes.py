"""What was changed between two states of a project, in the words of its pages."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple

from shoal.errors import ShoalError
from shoal.workbench import drafting
from shoal.workbench.project.context import TITLES
from shoal.workbench.project.journal import Journal, State
from shoal.workbench.project.project import PROJECT_FILE, SPEC_FILE
from shoal.workbench.texts import TEXTS, say

Texts = Mapping[str, str | None]
LONGEST, FEW = 300, 2


class Difference(NamedTuple):
    """One thing that two states say differently; empty where one says nothing of it."""

    what: str
    before: str
    after: str


def differences(before: Texts, after: Texts) -> list[Difference]:
    """What two states say differently, in the order of the pages."""
    old, new = _said(before), _said(after)
    names = [*old, *(name for name in new if name not in old)]
    pairs = [Difference(name, old.get(name, ""), new.get(name, "")) for name in names]
    return [one for one in pairs if one.before != one.after]


def in_short(found: list[Difference]) -> str:
    """What was changed, in some words."""
    names = ", ".join(one.what for one in found[:FEW])
    more = len(found) - FEW
    return f"{names} and {more} more" if more > 0 else names or "how the file is written"


def change_words(journal: Journal, state: State) -> str:
    """What a state changed of the one before it."""
    if state.before is None:
        return "Begun"
    return in_short(differences(journal.state(state.before).files, state.files))


def _said(files: Texts) -> dict[str, str]:
    """All that a state says, by what it is about."""
    said: dict[str, str] = {}
    for name, tell in ((PROJECT_FILE, _of_project), (SPEC_FILE, _of_draft)):
        text = files.get(name)
        try:
            said |= tell(tomllib.loads(text or ""))
        except (tomllib.TOMLDecodeError, RecursionError, ShoalError, TypeError, ValueError):
            said[name] = text or ""  # written by hand, and not to be understood
    return {name: text[:LONGEST] for name, text in said.items()}


def _of_project(told: Mapping[str, Any]) -> dict[str, str]:
    tables = {name: told.get(name) or {} for name in ("source", "statement", "reasons")}
    said = {"Table": ", ".join(map(str, tables["source"].values()))}
    said |= {title: str(tables["statement"].get(n, "")) for n, title in TITLES.items()}
    reasons = tables["reasons"].items()
    return said | {f"Why {name} has this role": str(one) for name, one in reasons}


def _of_draft(draft: Mapping[str, Any]) -> dict[str, str]:
    columns = [name for key in drafting.KEYS.values() for name in drafting.names(draft.get(key))]
    said = {f"Role of {one}": say(f"role.{drafting.role_of(draft, one)}") for one in columns}
    bands, recipes = drafting.band_texts(draft), drafting.recipe_texts(draft)
    said |= {f"Bands of {name}": text for name, text in bands.items()}
    said |= {f"Coarser values of {name}": text for name, text in recipes.items()}
    for event in drafting.events_of(draft):
        r = "" if event.r is None else f"; r = {event.r:g}"
        said[f"Event {event.name}"] = ", ".join(event.values) + r
    rest = set(draft) - {*drafting.KEYS.values(), "bands", "recode", "protect"}
    return said | {_label(key): _text(draft[key]) for key in draft if key in rest}


def _label(key: str) -> str:
    return say(f"strength.{key}") if f"strength.{key}" in TEXTS else key


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(", ".join(drafting.names(one)) or str(one) for one in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
