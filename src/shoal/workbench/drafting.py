"""The draft of a spec as the page of roles edits it: plain data in, plain data out.

What was typed is kept as typed, right or wrong: the spec itself says what is wrong with it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.data.spec import ROWS_OF_PERSON, Event, as_event
from shoal.data.spec.checks import number_or_text
from shoal.data.spec.recipe import KEYS as KEYS_OF_RECIPE
from shoal.data.spec.recipe import Recipe, parse_recipes
from shoal.errors import InputError
from shoal.planning.propose import Proposal

ROLES = ("qi", "sensitive", "identifier", "person", "weight", "qi-weight", "unpublished")
KEYS = {"qi": "qi", "sensitive": "sensitive", "identifier": "identifiers", "person": "person"}
Draft = dict[str, Any]
BETWEEN = re.compile(rf";(?=\s*(?:{KEYS_OF_RECIPE.replace(', ', '|')})\b|\s*$)")
"""A semicolon that no label holds."""


def proposed(proposal: Proposal) -> tuple[Draft, dict[str, str]]:
    """What `shoal init` would write, and its reason for every column."""
    draft = tomllib.loads(proposal.to_toml())
    return draft, {guess.column: guess.reason for guess in proposal.guesses}


def names(value: Any) -> list[str]:
    """Column names, of one or several."""
    if isinstance(value, str):
        return [value] if value else []
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def fits(draft: Mapping[str, Any], columns: Sequence[str]) -> bool:
    """Whether all columns that a draft has a role for are there."""
    wanted = {name for key in (*KEYS.values(), "weight") for name in names(draft.get(key))}
    return bool(wanted) and wanted <= {*columns, ROWS_OF_PERSON}


def role_of(draft: Mapping[str, Any], column: str) -> str:
    """The role that a draft gives a column; a survey weight that is a QI too is published."""
    if column in names(draft.get("weight")):
        return "qi-weight" if column in names(draft.get("qi")) else "weight"
    for role, key in KEYS.items():
        if column in names(draft.get(key)):
            return role
    return "unpublished"


def with_roles(draft: Draft, roles: Mapping[str, str]) -> Draft:
    """The draft with columns in other roles; what only the old ones had goes with them."""
    by_role = {role: [name for name, one in roles.items() if one == role] for role in ROLES}
    person, sensitive = by_role["person"], by_role["sensitive"]
    qi = [name for name, one in roles.items() if one in ("qi", "qi-weight")]
    weight = by_role["weight"] + by_role["qi-weight"]
    counted = ROWS_OF_PERSON in names(draft.get("qi")) and bool(person)
    changed = {
        **draft,
        "qi": [*qi, ROWS_OF_PERSON] if counted and ROWS_OF_PERSON not in roles else qi,
        "sensitive": sensitive[0] if len(sensitive) == 1 else sensitive,
    }
    changed = put(changed, "identifiers", by_role["identifier"])
    for key, some in (("person", person), ("weight", weight)):
        changed = put(changed, key, some[0] if len(some) == 1 else some)
    if not person:
        changed = put(changed, "rows_per_person", None)
    if sensitive != names(draft.get("sensitive")):
        changed = with_events(changed, _moved(events_of(draft), draft, sensitive))
    for key, kept in (("bands", qi), ("recode", [*qi, *sensitive])):
        if isinstance(draft.get(key), Mapping):
            left = {name: one for name, one in draft[key].items() if name in kept}
            changed = put(changed, key, left)
    known = [name for name in names(draft.get("rare_unknown")) if name in qi]
    return put(changed, "rare_unknown", known)


def _moved(events: Sequence[Event], draft: Draft, sensitive: Sequence[str]) -> list[Event]:
    """The events of the columns that are still sensitive, each with its column said."""
    before = names(draft.get("sensitive"))
    kept = []
    for event in events:
        columns = event.column or tuple(before[:1])
        still = tuple(name for name in columns if name in sensitive)
        if still:
            said = still if len(sensitive) > 1 else ()
            kept.append(Event(event.values, event.label, event.r, said))
    return kept


def events_of(draft: Mapping[str, Any]) -> list[Event]:
    """The events of a draft; none if it protects each value, or what it says is no list."""
    given = draft.get("protect")
    return [as_event(one) for one in given] if isinstance(given, list) else []


def with_events(draft: Draft, events: Sequence[Event]) -> Draft:
    """The draft with other events; without any, each value is protected."""
    return put(draft, "protect", [_plain(event) for event in events])


def _plain(event: Event) -> dict[str, Any]:
    plain: dict[str, Any] = {"values": list(event.values)}
    usual = Event(event.values).label
    if event.label != usual:
        plain["label"] = event.label
    if event.r is not None:
        plain["r"] = event.r
    if event.column:
        plain["column"] = list(event.column)
    return plain


def range_entry(low: str, high: str) -> str:
    """A range as an event's entry."""
    if low and high:
        return f"{low}..{high}"
    return f">= {low}" if low else f"<= {high}"


def put(draft: Draft, key: str, value: Any) -> Draft:
    """The draft with a key in its place; without one that has nothing to say."""
    if value is None or value is False or value in ("", [], {}):
        return {name: one for name, one in draft.items() if name != key}
    return {**draft, key: value}


def with_views(draft: Draft, text: str) -> Draft:
    """The draft with the views that outsiders reason with, one in each line; without any, every
    set of QIs is one."""
    views = _views(text)
    if views == _views(views_text(draft)):  # a name with a comma in it is not taken apart
        return draft
    return put(draft, "views", views)


def views_text(draft: Mapping[str, Any]) -> str:
    """The views, one in each line."""
    given = draft.get("views", [])
    return "\n".join(", ".join(names(one)) for one in (given if isinstance(given, list) else []))


def with_rare_unknown(draft: Draft, text: str) -> Draft:
    """The draft with the QIs whose rare values nobody has figures by, after commas."""
    if text == rare_unknown_text(draft):  # a name with a comma in it is not taken apart
        return draft
    return put(draft, "rare_unknown", [one for view in _views(text) for one in view])


def rare_unknown_text(draft: Mapping[str, Any]) -> str:
    return ", ".join(names(draft.get("rare_unknown")))


def _views(text: str) -> list[list[str]]:
    lines = [[name.strip() for name in line.split(",")] for line in text.splitlines()]
    return [named for line in lines if (named := [name for name in line if name])]


def with_bands(draft: Draft, typed: Mapping[str, str]) -> Draft:
    """The draft with the bands that QIs are also known in, by column."""
    bands = {name: number_or_text(text) for name, text in typed.items() if text}
    return put(draft, "bands", bands)


def band_texts(draft: Mapping[str, Any]) -> dict[str, str]:
    bands = draft.get("bands", {})
    return {n: _figure(width) for n, width in bands.items()} if isinstance(bands, Mapping) else {}


def with_recipes(draft: Draft, typed: Mapping[str, str]) -> Draft:
    """The draft with columns recoded as typed, in the words of --recode; an InputError that names
    the column where they are not understood. What was not changed stays as it is."""
    own, before = recipes_of(draft), recipe_texts(draft)
    recipes = {
        name: own[name] if text == before.get(name) else _recipe(name, text)
        for name, text in typed.items()
        if text
    }
    return put(draft, "recode", recipes)


def _recipe(column: str, text: str) -> dict[str, Any]:
    parts = [f"column:{part.strip()}" for part in BETWEEN.split(text) if part.strip()]
    try:
        given = parse_recipes(parts)["column"]
        Recipe(**given)
    except InputError as error:
        raise type(error)(error.code, f'"{column}": {error.problem}', error.remedy) from None
    return given


def recipe_texts(draft: Mapping[str, Any]) -> dict[str, str]:
    """How columns are recoded, in the words of --recode, several after a semicolon."""
    return {name: _recipe_text(given) for name, given in recipes_of(draft).items()}


def recipes_of(draft: Mapping[str, Any]) -> dict[str, Any]:
    """How columns are recoded, without what is no recipe: the spec itself says that of it."""
    given = draft.get("recode", {})
    pairs = given.items() if isinstance(given, Mapping) else ()
    return {name: one for name, one in pairs if isinstance(one, Mapping | Recipe)}


def _recipe_text(given: Any) -> str:
    plain = given.to_mapping() if isinstance(given, Recipe) else dict(given)
    told = []
    for key, value in plain.items():
        if value is True:
            told.append(key)
        else:
            pairs = value.items() if isinstance(value, Mapping) else ()
            parts = value if isinstance(value, list) else [value]
            parts = [f"{code}={label}" for code, label in pairs] or parts
            told.append(f"{key}={','.join(map(_figure, parts))}")
    return "; ".join(told)


def _figure(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def one_event(values: Sequence[str], label: str, r: str, column: Sequence[str]) -> Event:
    """An event as the page's form has it."""
    if not values:
        raise InputError(
            "event-empty", "A protected event has no values.", "Tick values, or give a range."
        )
    return Event(tuple(values), label, number_or_text(r) if r else None, tuple(column))  # type: ignore[arg-type]
