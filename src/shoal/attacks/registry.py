"""The registry: every attacker by its name. shoal's own are listed here, quick ones first; other
packages add theirs by an entry point of the group `shoal.attackers`, a program with `register`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
    "singling-out": "shoal.attacks.rules:SinglingOut",
    "linkability": "shoal.attacks.rules:Linkability",
    "absentee": "shoal.attacks.counters:Absentee",
    "learner": "shoal.attacks.learner:Learner",
    "counter-class": "shoal.attacks.counters:ClassCounter",
    "counter-odds": "shoal.attacks.counters:OddsCounter",
    "counter-all": "shoal.attacks.counters:AllCounter",
    "modeller": "shoal.attacks.rules:Modeller",
    "informed": "shoal.attacks.insider:Informed",
    "insider": "shoal.attacks.insider:Insider",
    "intersection": "shoal.attacks.together:Intersector",
    "difference": "shoal.attacks.together:Differencer",
    "arrivals": "shoal.attacks.together:Arrivals",
}
_ATTACKERS = Registry("shoal.attackers", _OWN)
TOGETHER = ("intersection", "difference", "arrivals")
"""Those who compare releases; all others read one."""


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


def attacker_names(*, together: bool = False) -> tuple[str, ...]:
    """Who can be asked for, of one release or of several: shoal's own first, then those added."""
    return tuple(name for name in _ATTACKERS.names if (name in TOGETHER) is together)


def as_attackers(
    given: Iterable[str | Attacker] | None, *, together: bool = False
) -> tuple[Attacker, ...]:
    """Attackers of one release, or of several, by their names, or as they are; all of them if none
    is named."""
    names = attacker_names(together=together)
    chosen = list(names if given is None else given)
    if not chosen:
        raise InputError("attacker", "No attacker is named.", "Name at least one.")
    found = [_named(one, names) if isinstance(one, str) else one for one in chosen]
    return tuple({one.name: one for one in found}.values())


def _named(name: str, names: Sequence[str]) -> Attacker:
    made: Callable[[], Attacker] | None = _ATTACKERS.find(name) if name in names else None
    if made is not None:
        return made()
    raise InputError(
        "attacker",
        f'There is no attacker "{name}"{nearest(name, names)}.',
        f"Attackers: {', '.join(names)}.",
    )
