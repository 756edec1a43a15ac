"""One sentence or two on what an attacker achieves, for people who decide."""

from __future__ import annotations

from shoal.attacks.finding import Finding
from shoal.attacks.rate import Rate
from shoal.display import counted
from shoal.wording import plain_percent as percent


def sentence(found: Finding) -> str:
    """What the figures mean, and for whom."""
    if not found.everybody.tries:
        return "There was nobody to name."
    if found.control is None or found.baseline is None:
        return f"Finds {found.everybody.hits:,} of {found.everybody.tries:,} people for sure."
    said = [
        f"Right about {_rate(found.everybody)} of the {found.everybody.tries:,} people named; "
        f"{percent(found.baseline)} without the release, {percent(found.control.rate)} if it told "
        "no more than it claims."
    ]
    if found.promised is None:
        said.append("Everybody named was known above the limit beforehand.")
    else:
        beaten = found.unknown.surely(found.attackers) > found.promised
        verdict = "which is beaten" if beaten else "which is not beaten"
        said.append(
            f"Of people not known beforehand {_rate(found.unknown)}, where "
            f"{percent(found.promised)} is the limit, {verdict}."
        )
    if found.certain.tries:
        named = counted(found.certain.tries, "person", "people")
        said.append(f"Named with certainty: {named}, {found.certain.hits:,} rightly.")
    if found.beats and found.allowed is not None:
        said.append(
            f"With what was known beforehand allowed for, {percent(found.allowed)} is the limit "
            "for everybody named, and for those named with certainty."
        )
    return " ".join(said)


def _rate(rate: Rate) -> str:
    low, high = rate.interval
    return f"{percent(rate.rate)} ({percent(low)} to {percent(high)})"
