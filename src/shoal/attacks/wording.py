"""One sentence or two on what an attacker achieves, for people who decide."""

from __future__ import annotations

from shoal.attacks.finding import Finding
from shoal.attacks.rate import Rate
from shoal.attacks.verdict import SENTENCES
from shoal.display import counted
from shoal.wording import plain_percent as percent

SPOKEN_OF = 100
SUREST = {
    "everybody": "Of the {0} people this attacker is surest of, {1} have the protected value; "
    "without the release {2} of its surest {0}.",
    "unknown": "Of the {0} it is surest of among people not known beforehand, {1} have it; "
    "without the release {2} of {0}.",
}


def sentence(found: Finding) -> str:
    """What the figures mean, and for whom."""
    if not found.everybody.tries:
        return SENTENCES[found.verdict]
    if found.control is None or found.baseline is None:
        found_ = f"Finds {found.everybody.hits:,} of {found.everybody.tries:,} people for sure."
        return f"{found_} {SENTENCES[found.verdict]}"
    said = [
        f"Right about {_rate(found.everybody)} of the {found.everybody.tries:,} people named; "
        f"{percent(found.baseline)} without the release, {percent(found.control.rate)} if it "
        "revealed no more than it claims."
    ]
    if found.allowed is not None:
        said.append(
            f"At most {percent(found.allowed)} is allowed, given what all public statistics say."
        )
    if found.promised is None:
        said.append("Everybody named was known above the limit beforehand.")
    else:
        said.append(
            f"Of people not known beforehand {_rate(found.unknown)}, where "
            f"{percent(found.promised)} is the limit."
        )
    if found.certain.tries:
        named = counted(found.certain.tries, "person", "people")
        by_counts = f", {found.surprises:,} of them not by counts alone" * bool(found.surprises)
        said.append(f"Named with certainty: {named}, {found.certain.hits:,} rightly{by_counts}.")
    said += _surest(found)
    said.append(SENTENCES[found.verdict])
    return " ".join(said)


def _surest(found: Finding) -> list[str]:
    """Of as many people as a sentence speaks of: everybody, and those not known beforehand, where
    these are others."""
    said, seen = [], set()
    for among, text in SUREST.items():
        some = [one for one in found.surest if one.among == among and one.people <= SPOKEN_OF]
        for one in some[-1:]:
            figures = one.people, round(one.right), round(one.without)
            if figures not in seen:
                said.append(text.format(*figures))
            seen.add(figures)
    return said


def _rate(rate: Rate) -> str:
    low, high = rate.interval
    return f"{percent(rate.rate)} ({percent(low)} to {percent(high)})"
