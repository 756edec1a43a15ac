"""Context: what only people can say of a release, for its assessment. Each field is declared here
once; the page, the file and the evidence take its meaning from the text below it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from shoal.data.spec.toml_text import read_toml
from shoal.declared import fields_of
from shoal.errors import InputError
from shoal.plain import plain


@dataclass(frozen=True, kw_only=True)
class Intrusion:
    """A test in which somebody tried to find people in the release."""

    who: str = ""
    """Who tried: their skills, and what they know of the people."""
    means: str = ""
    """With what: sources, time, money."""
    tried: str = ""
    """What they tried."""
    result: str = ""
    """What came of it: how many people they named, and how many of them rightly."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """All of it; an empty text is not stated."""

    controller: str = ""
    """Who is responsible for the data, and how to reach them."""
    source: str = ""
    """Where the data come from, and how they were collected."""
    period: str = ""
    """The time that the data are of."""
    legal_basis: str = ""
    """On what legal basis they are processed and anonymised."""
    subjects: str = ""
    """Whom the data are about, how many there are in all, and who of them is vulnerable."""
    purpose: str = ""
    """What the release is for."""
    necessity: str = ""
    """Why these columns are published, and no fewer or coarser ones."""
    recipient: str = ""
    """Who receives it."""
    release_model: str = ""
    """How it is given: public, named recipients, controlled access."""
    environment: str = ""
    """Where recipients use it, and what else they hold."""
    safeguards: str = ""
    """What binds recipients: contracts, access control, training, sanctions."""
    adversaries: str = ""
    """Who might try to learn of people, why, and with what prior knowledge."""
    means: str = ""
    """Means that are reasonably likely to be used: other data, time, cost, technology."""
    harms: str = ""
    """What happens to a person of whom something is learnt."""
    intrusions: tuple[Intrusion, ...] = ()
    """Tests by motivated intruders."""
    population: str = ""
    """What is known of how many people outside the table share somebody's attributes."""
    why_r: str = ""
    """Why nobody may be linked more surely, and why not less: harm, recipients, law."""
    why_events: str = ""
    """Why these values are protected, and others are not."""
    residual_risk: str = ""
    """The risk that is left, and why it is acceptable."""
    conclusion: str = ""
    """Whether the release is anonymous for these recipients."""
    transparency: str = ""
    """What people and the public are told of the release."""
    monitoring: str = ""
    """Who watches for new data and new attacks, and how often."""
    expiry: str = ""
    """The day on which this assessment ends: 2030-12-31."""
    incident: str = ""
    """What is done when somebody is found: who is called, what is withdrawn, who is told."""
    expert: str = ""
    """Name, position and qualification of the expert who assessed this."""
    statement: str = ""
    """What the expert states."""
    reviewer: str = ""
    """Who decides on it."""
    confirmed: Mapping[str, str] | None = None
    """Reasons for columns that shoal proposed and a person confirmed, by column."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Context:
        """A context of plain data, or an InputError that names what is wrong with it."""
        known = meanings()
        for name, value in given.items():
            if name not in known:
                raise InputError(
                    "context-field",
                    f'Nothing called "{name}" is stated of a release.',
                    f"Choose among: {', '.join(known)}.",
                )
            if name in TEXTS and not isinstance(value, str | date):
                raise _not_a_text(name)
        texts = {name: str(value).strip() for name, value in given.items() if name in TEXTS}
        _check_expiry(texts.get("expiry", ""))
        confirmed = given.get("confirmed", {})
        if not isinstance(confirmed, Mapping):
            raise _not_a_text("confirmed")
        return cls(
            **texts,
            intrusions=_intrusions(given.get("intrusions", ())),
            confirmed={name: str(text) for name, text in confirmed.items()},
        )

    @property
    def stated(self) -> dict[str, Any]:
        """What is stated, as plain data."""
        told: dict[str, Any] = {name: one for name, one in plain(self).items() if one}
        return told

    @classmethod
    def read(cls, path: str | Path) -> Context:
        """A context in a TOML file."""
        return cls.of(read_toml(path))

    def with_(self, other: Context) -> Context:
        """This context, with all that another one states instead."""
        return Context(**{**vars(self), **{name: one for name, one in vars(other).items() if one}})


PARTS = {
    "data": ("controller", "source", "period", "legal_basis", "subjects"),
    "release": ("purpose", "necessity", "recipient", "release_model", "environment", "safeguards"),
    "threats": ("adversaries", "means", "harms", "population"),
    "strength": ("why_r", "why_events"),
    "result": ("residual_risk", "conclusion"),
    "after": ("transparency", "monitoring", "expiry", "incident"),
    "people": ("expert", "statement", "reviewer"),
}
"""The texts, by the parts of a page."""
TEXTS = tuple(name for part in PARTS.values() for name in part)
TITLES = {
    "controller": "Controller",
    "source": "Source of the data",
    "period": "Period",
    "legal_basis": "Legal basis",
    "subjects": "Data subjects",
    "purpose": "Purpose of the release",
    "necessity": "Why these columns",
    "recipient": "Recipients",
    "release_model": "Release model",
    "environment": "Environment of the recipients",
    "safeguards": "Safeguards",
    "adversaries": "Who might try",
    "means": "Means reasonably likely to be used",
    "harms": "Harm to people",
    "population": "Uniqueness in the population",
    "why_r": "Why this r",
    "why_events": "Why these events",
    "residual_risk": "Residual risk",
    "conclusion": "Conclusion",
    "transparency": "Transparency",
    "monitoring": "Monitoring",
    "expiry": "Expiry of this assessment",
    "incident": "Incident plan",
    "expert": "Expert",
    "statement": "Statement of the expert",
    "reviewer": "Who decides",
    "intrusions": "Tests by intruders",
}
"""What each is called."""
INTRUSION = tuple(one.name for one in fields(Intrusion))


@lru_cache(maxsize=1)
def meanings() -> dict[str, str]:
    """What each field means, by its name."""
    source = Path(__file__).read_text("utf-8")
    return {one.name: one.help for one in fields_of(source, "Context")}


@lru_cache(maxsize=1)
def intrusion_meanings() -> dict[str, str]:
    """What each field of a test by an intruder means."""
    source = Path(__file__).read_text("utf-8")
    return {one.name: one.help for one in fields_of(source, "Intrusion")}


def _intrusions(given: Any) -> tuple[Intrusion, ...]:
    if not isinstance(given, list | tuple):
        raise _not_a_text("intrusions")
    made = []
    for one in given:
        if not isinstance(one, Mapping) or set(one) - set(INTRUSION):
            raise InputError(
                "context-intrusion",
                "A test by an intruder cannot be read.",
                f"It has: {', '.join(INTRUSION)}.",
            )
        texts = {name: str(text).strip() for name, text in one.items()}
        if any(texts.values()):
            made.append(Intrusion(**texts))
    return tuple(made)


def _not_a_text(name: str) -> InputError:
    return InputError(
        "context-text",
        f'What is stated as "{name}" is no text.',
        "Write it in quotation marks; tests by intruders as [[intrusions]].",
    )


def _check_expiry(text: str) -> None:
    try:
        date.fromisoformat(text or "2000-01-01")
    except ValueError:
        raise InputError(
            "context-date", f'The expiry "{text}" is no date.', "Write it as 2030-12-31."
        ) from None
