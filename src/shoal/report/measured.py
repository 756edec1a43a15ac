"""What was measured with the truth in hand, in sentences: right guesses, errors of counts."""

from __future__ import annotations

from shoal.release.facts.bins import Record
from shoal.release.facts.contents import Facts
from shoal.wording import isolated, joined, percent, quoted

SUREST = {"everybody": "Surest {}", "unknown": "Surest {} not known before"}


def attack_sentence(facts: Facts) -> str:
    """Who tried, and whether anybody beat the limit; empty if nobody did try."""
    if facts.attack is None:
        return ""
    return " ".join(map(_attacked, [facts.attack, *facts.attack.get("others", [])]))


def _attacked(found: Record) -> str:
    """The same of one column."""
    of = f" of {quoted(found['column'])}" if found.get("column") else ""
    if not found["attackers"]:
        return f"Nobody tried to name carriers{of}."
    tried = joined([one["attacker"] for one in found["attackers"]])
    said = (
        f"The limit is beaten beyond chance by {joined(found['beaten_by'])}."
        if found["beaten_by"]
        else "Nobody is right above the limit beyond chance."
    )
    if found.get("too_few_tries"):
        said += f" There were too few tries to tell for {joined(found['too_few_tries'])}."
    return f"Attackers tried to name carriers{of}: {tried}. {said}"


def surest_table(found: Record) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """How many carry of the people whom each attacker is surest of: heads, and for each attacker
    its name and a cell under each head. Empty where nobody chose."""
    told = [
        (one["attacker"], {(some["among"], some["people"]): some for some in one["surest"]})
        for one in found["attackers"]
        if one.get("surest")
    ]
    counts = sorted({people for _, some in told for _, people in some})
    columns = [(among, people) for among in SUREST for people in counts]
    heads = [SUREST[among].format(people) for among, people in columns]
    return heads, [(name, [_precision(some.get(one)) for one in columns]) for name, some in told]


def _precision(one: Record | None) -> str:
    if one is None:
        return "–"
    return f"{percent(one['rate'])} ({percent(one['without'])}, {percent(one['control'])})"


def errors_in_short(facts: Facts) -> str:
    """How far counts from the release are off, in a sentence."""
    if not facts.queries or not facts.queries["lines"]:
        return "How far counts are off was not measured."
    told = [f"{percent(one['mean'])} ({one['name'].lower()})" for one in facts.queries["lines"]]
    return f"Counts are off by {joined(told)} on average.".replace("\u00a0", " ")


def class_errors_in_short(facts: Facts) -> str:
    """How far counts by class of people are off, in a sentence; empty without such counts."""
    found = facts.queries and facts.queries["classes"]
    if not found:
        return ""
    if not found["worst"]:
        return f"Not judged: no class of people has {found['enough']:,} carriers of an event."
    worst, counted = found["worst"][0], found["counted"]
    off = abs(worst["estimate"] - worst["carriers"]) / worst["carriers"]
    classes = "1 class" if counted["classes"] == 1 else f"{counted['classes']:,} classes"
    return (
        f"Estimated from the release, they are off by {percent(counted['mean'])} on average and by "
        f"{percent(off)} at worst, in {classes} of at least {found['enough']:,} carriers."
    )


def class_errors(facts: Facts) -> str:
    """How far counts by class of people are off, and for whom most; empty without such counts."""
    found = facts.queries and facts.queries["classes"]
    if not found or not found["worst"]:
        return ""
    worst, counted = found["worst"][0], found["counted"]
    whose = joined([f"{isolated(name)} {quoted(value)}" for name, value in worst["class"].items()])
    classes = counted["classes"]
    chance = ""
    if counted.get("covered") is not None:  # facts of earlier versions do not say
        chance = (
            "By its standard error the release says how far an estimate may be off by chance: the "
            f"95 % interval holds the truth in {percent(counted['covered'])} of the classes. "
        )
    return (
        f"{classes:,} {'class' if classes == 1 else 'classes'} of people that general knowledge is "
        f"about {'has' if classes == 1 else 'have'} at least {found['enough']:,} carriers of an "
        "event. Counted from the release, their carriers are off by "
        f"{percent(counted['mean'])} on average, and by more than a quarter in "
        f"{counted['far_off']:,} of the classes; worst among people with {whose}: "
        f"{worst['carriers']:,} carry {quoted(worst['event'])}, and a reader of the release "
        f"estimates {worst['estimate']:,.0f}. {chance}Classes with fewer carriers, "
        f"{found['smaller']:,} of them, are not judged."
    )
