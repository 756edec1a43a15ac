"""The form of the page of roles, put into the draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from shoal.data.spec import Event
from shoal.data.spec.checks import number_or_text
from shoal.data.spec.events import located
from shoal.data.spec.spec import FILES, parameters
from shoal.errors import InputError
from shoal.workbench import drafting
from shoal.workbench.bench import Visit
from shoal.workbench.drafting import Draft
from shoal.workbench.held import Held, key_of
from shoal.workbench.inside import inside
from shoal.workbench.project.project import draft_of

FIGURES = ("r", "k", "min_support", "max_attributes", "rows_per_person")
FORMER = 200
"""States that are looked through for the events that a column had."""
CHOICES = tuple(one.name for one in parameters() if one.type == "bool")


@dataclass(frozen=True)
class RolesForm:
    """What was typed and pressed."""

    visit: Visit
    held: Held

    @property
    def pressed(self) -> tuple[str, str]:
        """The button, and what it is about."""
        what, _, about = self.visit.text("do").partition(":")
        return what, about

    def filled(self, name: str, columns: list[str]) -> dict[str, str]:
        """A field that columns have, by column, where the form has it."""
        fields = {column: f"{name}-{key_of(column)}" for column in columns}
        return {c: self.visit.text(f) for c, f in fields.items() if f in self.visit.form}

    def draft(self, draft: Draft) -> Draft:
        """The draft with all that the form says, but for an event that is to be added."""
        columns = self.held.columns
        if self.pressed[0] == "propose":
            return drafting.proposed(self.held.proposal)[0]
        before, draft = draft, drafting.with_roles(draft, self._roles(draft))
        draft = self._with_former_events(draft, before)
        published = [name for name in columns if drafting.role_of(draft, name) != "unpublished"]
        bands = drafting.band_texts(draft) | self.filled("band", published)
        draft = drafting.with_bands(draft, bands)
        recipes = drafting.recipe_texts(draft) | self.filled("recode", published)
        before, draft = draft, drafting.with_recipes(draft, recipes)
        self._stay_inside(drafting.recipes_of(before), drafting.recipes_of(draft))
        for name in FIGURES:
            if name in self.visit.form:
                text = self.visit.text(name)
                draft = drafting.put(draft, name, number_or_text(text) if text else None)
        for name in CHOICES:
            if name in self.visit.form:
                draft = drafting.put(draft, name, self.visit.text(name) == "yes")
        if "views" in self.visit.form:
            draft = drafting.with_views(draft, self.visit.text("views"))
        if "rare_unknown" in self.visit.form:
            draft = drafting.with_rare_unknown(draft, self.visit.text("rare_unknown"))
        for name in FILES:
            if name in self.visit.form:
                draft = self._with_file(draft, name)
        return drafting.with_events(draft, self._events(draft))

    def _with_former_events(self, draft: Draft, before: Draft) -> Draft:
        """The draft with the events that columns had when they were sensitive the last time: lists
        that are led by arrow keys pass through other roles."""
        sensitive, was = (drafting.names(one.get("sensitive")) for one in (draft, before))
        events = drafting.events_of(draft)
        for column in sensitive:
            if column not in was:
                events += self._former(column, several=len(sensitive) > 1)
        return drafting.with_events(draft, events) if sensitive != was else draft

    def _former(self, column: str, *, several: bool) -> list[Event]:
        for state in islice(self.visit.project.journal.line(), FORMER):
            draft = draft_of(state)
            columns = drafting.names(draft.get("sensitive"))
            if column in columns:
                events = drafting.events_of(draft)
                own = [event for event in events if (event.column or (*columns[:1],)) == (column,)]
                return [replace(event, column=(column,) if several else ()) for event in own]
        return []

    def _with_file(self, draft: Draft, name: str) -> Draft:
        """The draft with a file: one in the project, or the one that the spec names already."""
        file, before = self.visit.text(name), draft.get(name)
        if file == before:
            return draft
        return drafting.put(draft, name, self._within(file, name) if file else None)

    def _within(self, file: str, about: str) -> str:
        """A file of the project, or an InputError that says what it is about."""
        try:
            return inside(self.visit.project.folder, file)
        except InputError as error:
            raise type(error)(error.code, f"{about}: {error.problem}", error.remedy) from None

    def _stay_inside(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Refuses a hierarchy's file outside the project, unless the spec named it already."""
        for column, recipe in after.items():
            file = recipe.get("hierarchy")
            if file is not None and before.get(column, {}).get("hierarchy") != file:
                self._within(file, f'"{column}"')

    def _roles(self, draft: Draft) -> dict[str, str]:
        roles = {name: drafting.role_of(draft, name) for name in self.held.columns}
        for name, role in self.filled("role", self.held.columns).items():
            roles[name] = role if role in drafting.ROLES else roles[name]
        if self.pressed[0] == "bulk":
            role, picked = self.visit.text("bulk-role"), set(self.visit.texts("pick"))
            if role in drafting.ROLES:
                roles |= {name: role for name in roles if key_of(name) in picked}
        return roles

    def _events(self, draft: Draft) -> list[Event]:
        """The events with labels and limits as typed, without one that is removed."""
        what, about = self.pressed
        if what == "clear":
            return []
        events = []
        for place, event in enumerate(drafting.events_of(draft)):
            if (what, about) == ("remove", str(place)):
                continue
            if f"event-label-{place}" in self.visit.form:
                label = self.visit.text(f"event-label-{place}")
                own = self.visit.text(f"event-r-{place}")
                event = replace(event, label=label, r=number_or_text(own) if own else None)  # type: ignore[arg-type]
            events.append(event)
        return events

    def added(self, draft: Draft) -> Draft:
        """The draft with the events that the button adds."""
        what, key = self.pressed
        if what not in ("add", "each"):
            return draft
        sensitive = drafting.names(draft.get("sensitive"))
        column = next((name for name in sensitive if key_of(name) == key), None)
        if column is None:
            raise InputError(
                "event-column", "This is no sensitive column.", "Give it that role first."
            )
        of = [column] if len(sensitive) > 1 else []
        ticked = set(self.visit.texts(f"tick-{key}"))
        recipe = drafting.recipes_of(draft).get(column)
        values = [text for text, _ in self.held.values(column, recipe) if key_of(text) in ticked]
        label, own = self.visit.text(f"label-{key}"), self.visit.text(f"own-r-{key}")
        events = drafting.events_of(draft)
        if what == "each":
            new = [drafting.one_event([value], "", own, of) for value in values]
            if not new:
                drafting.one_event([], "", "", of)
        else:
            new = [drafting.one_event(values + self._entries(key), label, own, of)]
        return drafting.with_events(draft, [*events, *new])

    def _entries(self, key: str) -> list[str]:
        low, high = self.visit.text(f"low-{key}"), self.visit.text(f"high-{key}")
        entry = self.visit.text(f"entry-{key}")
        ranges = [drafting.range_entry(low, high)] if low or high else []
        within = partial(inside, self.visit.project.folder)
        return [*ranges, *([located(entry, within)] if entry else [])]

    @property
    def guesses(self) -> dict[str, str]:
        """The reasons that are proposed."""
        return {guess.column: guess.reason for guess in self.held.proposal.guesses}

    def reasons(self, draft: Draft) -> dict[str, str]:
        """Why columns have their roles: as typed, or as proposed for this very role."""
        typed = self.filled("reason", self.held.columns)
        if self.pressed[0] == "propose":
            typed = {}
        proposed = {guess.column: guess for guess in self.held.proposal.guesses}
        reasons = {}
        for name in self.held.columns:
            guess, role = proposed[name], drafting.role_of(draft, name)
            reason = typed.get(name, "")
            if reason in ("", guess.reason):
                reason = guess.reason if role == guess.role else ""
            if reason:
                reasons[name] = reason
        return reasons
