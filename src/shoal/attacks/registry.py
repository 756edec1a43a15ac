"""The registry: every attacker by its name. shoal's own are listed here, quick ones first; other
packages add theirs by an entry point of the group `shoal.attackers`, a program with `register`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from shoal.errors import InputError, nearest
from shoal.registry import Registry

if TYPE_CHECKING:
    from shoal.attacks.attacker import Attacker

_OWN = {
    "likeliest": "shoal.attacks.rules:Likeliest",
    "weight": "shoal.attacks.rules:Weight",
    "medoid": "shoal.attacks.rules:Medoid",
    "rarest": "shoal.attacks.rules:Rarest",
    "singling-out": "shoal.attacks.records:SinglingOut",
    "linkability": "shoal.attacks.records:Linkability",
    "absentee": "shoal.attacks.counters:Absentee",
    "learner": "shoal.attacks.learner:Learner",
    "counter-class": "shoal.attacks.counters:ClassCounter",
    "counter-odds": "shoal.attacks.counters:OddsCounter",
    "counter-all": "shoal.attacks.counters:AllCounter",
    "modeller": "shoal.attacks.modeller:Modeller",
    "informed": "shoal.attacks.insider:Informed",
    "insider": "shoal.attacks.insider:Insider",
}
_ATTACKERS = Registry("shoal.attackers", _OWN)


def register(attacker: Attacker) -> Attacker:
    """Makes an attacker known by its name, for this program."""
    name = getattr(attacker, "name", None)
    if isinstance(attacker, type) or not isinstance(name, str) or not hasattr(attacker, "attack"):
        raise InputError(
            "attacker-class",
            f"{attacker!r} is no attacker.",
            "Give an object with a name, a reasoning and a method attack(scene).",
        )
    if name in _OWN:
        raise InputError("attacker-taken", f'shoal has an attacker "{name}".', "Choose another.")
    _ATTACKERS.added[name] = lambda: attacker
    return attacker


def attacker_names() -> tuple[str, ...]:
    """Who can be asked for: shoal's own first, then those added."""
    return _ATTACKERS.names


def as_attackers(given: Iterable[str | Attacker] | None) -> tuple[Attacker, ...]:
    """Attackers by their names, or as they are; all of them if none is named."""
    chosen = list(attacker_names() if given is None else given)
    if not chosen:
        raise InputError("attacker", "No attacker is named.", "Name at least one.")
    found = [_named(one) if isinstance(one, str) else one for one in chosen]
    return tuple({one.name: one for one in found}.values())


def _named(name: str) -> Attacker:
    made: Callable[[], Attacker] | None = _ATTACKERS.find(name)
    if made is not None:
        return made()
    names = attacker_names()
    raise InputError(
        "attacker",
        f'There is no attacker "{name}"{nearest(name, names)}.',
        f"Attackers: {', '.join(names)}.",
    )
