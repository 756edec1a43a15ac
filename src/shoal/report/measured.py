"""What was measured with the truth in hand, in sentences: right guesses, errors of counts."""

from __future__ import annotations

from shoal.release.facts.bins import Record
from shoal.release.facts.contents import Facts
from shoal.wording import isolated, joined, percent, quoted

SUREST = {"everybody": "Surest {}", "unknown": "Surest {} not known before"}


def attack_sentence(facts: Facts, *, short: bool = False) -> str:
    """Who tried, or how many, and whether anybody beat the limit; empty if nobody did try."""
    if facts.attack is None:
        return ""
    of_columns = [facts.attack, *facts.attack.get("others", [])]
    return " ".join(_attacked(found, short) for found in of_columns)


def _attacked(found: Record, short: bool) -> str:
    """The same of one column."""
    of = f" of {quoted(found['column'])}" if found.get("column") else ""
    if not found["attackers"]:
        return f"Nobody tried to name people with a protected value{of}."
    names = [one["attacker"] for one in found["attackers"]]
    said = (
        f"The limit is beaten beyond chance by {joined(found['beaten_by'])}."
        if found["beaten_by"]
        else "Nobody is right more often than allowed, beyond chance."
    )
    if found.get("too_few_tries"):
        said += f" There were too few tries to judge {joined(found['too_few_tries'])}."
    tried = f"tried to name people with a protected value{of}"
    if short:
        return f"{len(names)} attacker{'s' * (len(names) != 1)} {tried}. {said}"
    return f"Attackers {tried}: {joined(names)}. {said}"


def surest_table(found: Record) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Who is right of those whom each attacker is surest of: heads, and for each attacker
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
        return f"Not judged: no stratum has {found['enough']:,} cases of an event."
    worst, counted = found["worst"][0], found["counted"]
    off = abs(worst["estimate"] - worst["carriers"]) / worst["carriers"]
    strata = "1 stratum" if counted["classes"] == 1 else f"{counted['classes']:,} strata"
    return (
        f"Estimated from the release, they are off by {percent(counted['mean'])} on average and by "
        f"{percent(off)} at worst, in {strata} of at least {found['enough']:,} cases."
    )


def class_errors(facts: Facts) -> str:
    """How far counts by class of people are off, and for whom most; empty without such counts."""
    found = facts.queries and facts.queries["classes"]
    if not found or not found["worst"]:
        return ""
    worst, counted = found["worst"][0], found["counted"]
    whose = joined([f"{isolated(name)} {quoted(value)}" for name, value in worst["class"].items()])
    classes = counted["classes"]
    return (
        f"{classes:,} {'stratum' if classes == 1 else 'strata'} that public statistics are about "
        f"{'has' if classes == 1 else 'have'} at least {found['enough']:,} cases of an event. "
        f"Counted from the release, they are off by {percent(counted['mean'])} on average, and by "
        f"more than a quarter in {counted['far_off']:,} of the strata; worst among people with "
        f"{whose}: {worst['carriers']:,} have {quoted(worst['event'])}, and the "
        f"release leads to an estimate of {worst['estimate']:,.0f}. In "
        f"{percent(counted['covered'])} of the strata the truth lies in the 95 % interval of the "
        f"estimate. {found['smaller']:,} strata with fewer cases are not judged."
    )
