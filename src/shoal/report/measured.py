"""What was measured with the truth in hand, in sentences: right guesses, errors of counts."""

from __future__ import annotations

from shoal.auditing.attacked import AttackResult, PublicAttack, SurestRate
from shoal.release.facts.records import QueryErrors
from shoal.wording import isolated, joined, percent, quoted

SUREST = {"everybody": "Surest {}", "unknown": "Surest {} not known before"}


def attack_sentence(attack: PublicAttack | None, *, short: bool = False) -> str:
    """Who tried, or how many, and whether anybody beat the limit; empty if nobody did try."""
    of_columns = () if attack is None else attack.by_column
    return " ".join(_attacked(found, short) for found in of_columns)


def _attacked(found: PublicAttack, short: bool) -> str:
    of = f" of {quoted(found.column)}" if found.column else ""
    if not found.attackers:
        return f"Nobody tried to name people with a protected value{of}."
    names = [one.attacker for one in found.attackers]
    said = (
        f"The limit is beaten beyond chance by {joined(found.beaten_by)}."
        if found.beaten_by
        else "Nobody is right more often than allowed, beyond chance."
    )
    if found.too_few_tries:
        said += f" Too few tries to judge {joined(found.too_few_tries)}."
    if short:
        return f"{len(names)} attacker{'s' * (len(names) != 1)} tried to name cases{of}. {said}"
    tried = f"tried to name people with a protected value{of}"
    return f"Attackers {tried}: {joined(names)}. {said}"


def surest_table(found: AttackResult) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Who is right of those whom each attacker is surest of: heads, and for each attacker
    its name and a cell under each head. Empty where nobody chose."""
    told = [
        (one.attacker, {(some.among, some.people): some for some in one.surest})
        for one in found.attackers
        if one.surest
    ]
    counts = sorted({people for _, some in told for _, people in some})
    columns = [(among, people) for among in SUREST for people in counts]
    heads = [SUREST[among].format(people) for among, people in columns]
    return heads, [(name, [_precision(some.get(one)) for one in columns]) for name, some in told]


def _precision(one: SurestRate | None) -> str:
    if one is None:
        return "–"
    return f"{percent(one.rate)} ({percent(one.without)}, {percent(one.control)})"


def errors_in_short(queries: QueryErrors | None) -> str:
    """How far counts from the release are off, in a sentence."""
    if queries is None or not queries.lines:
        return "How far counts are off was not measured."
    told = [f"{percent(one.mean)} ({one.name.lower()})" for one in queries.lines]
    return f"Counts are off by {joined(told)} on average.".replace("\u00a0", " ")


def class_errors_in_short(queries: QueryErrors | None) -> str:
    """How far counts by class of people are off, in a sentence; empty without such counts."""
    if queries is None:
        return ""
    found, counted = queries.classes, queries.classes.counted
    if not found.worst:
        return f"Not judged: no stratum has {found.enough:,} cases of an event."
    worst = found.worst[0]
    off = abs(worst.estimate - worst.carriers) / worst.carriers
    strata = "1 stratum" if counted.classes == 1 else f"{counted.classes:,} strata"
    mean = percent(counted.mean or 0.0)
    return (
        f"Off by {mean} on average, by {percent(off)} at worst, in {strata} of at least "
        f"{found.enough:,} cases."
    )


def class_errors(queries: QueryErrors | None) -> str:
    """How far counts by class of people are off, and for whom most; empty without such counts."""
    if queries is None or not queries.classes.worst:
        return class_errors_in_short(queries)
    found, counted, worst = queries.classes, queries.classes.counted, queries.classes.worst[0]
    whose = joined([f"{isolated(name)} {quoted(value)}" for name, value in worst.class_.items()])
    one = counted.classes == 1
    mean, covered = percent(counted.mean or 0.0), percent(counted.covered or 0.0)
    return (
        f"{counted.classes:,} {'stratum' if one else 'strata'} that public statistics are about "
        f"{'has' if one else 'have'} at least {found.enough:,} cases of an event. "
        f"Counted from the release, they are off by {mean} on average, and by "
        f"more than a quarter in {counted.far_off:,} of the strata; worst among people with "
        f"{whose}: {worst.carriers:,} have {quoted(worst.event)}, and the "
        f"release leads to an estimate of {worst.estimate:,.0f}. In "
        f"{covered} of the strata the truth lies in the 95 % interval of the "
        f"estimate. {found.smaller:,} strata with fewer cases are not judged."
    )
