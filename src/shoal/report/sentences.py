"""What the report says in whole sentences, from its facts."""

from __future__ import annotations

from shoal.report.bins import Record
from shoal.report.facts import Facts
from shoal.report.words import (
    hidden_count,
    isolated,
    joined,
    judged,
    listed,
    people,
    percent,
    quoted,
    through,
)

WORDS = {True: "Robust", False: "Not robust", None: "Could not be judged"}


def verdict_sentence(facts: Facts, *, public: bool) -> str:
    """The verdict, as the audit gives it."""
    found = facts.verdict
    limit = f"with a probability above {percent(facts.limits[-1])}"
    if len(facts.limits) > 1:
        limit = "above its limit"
    event = quoted(facts.events[0]["label"]) if len(facts.events) == 1 else "a protected event"
    head = f"{WORDS[found['robust']]} at r = {found['r']:g}: "
    if found["robust"]:
        return head + f"nobody can be linked to {event} {limit}."
    if found["robust"] is False:
        count = hidden_count(found["problematic"], public=public)
        return head + f"{count} of {people(found['published'])} can be linked to {event} {limit}."
    reasons = []
    if found["undecided"]:
        count = hidden_count(found["undecided"], public=public)
        reasons.append(
            f"for {count} of {people(found['published'])} neither safety nor a breach "
            "could be shown"
        )
    if found["contradictory"]:
        reasons.append(
            f"{found['contradictory']:,} groups publish values that contradict what is known"
        )
    return head + "; ".join(reasons) + "."


def story(witness: Record | None, *, public: bool) -> str:
    """The worst case as a story; without the person where the edition has none."""
    if witness is None:
        return "No published group holds a protected event, so there is nobody to link to one."
    event = "a rare protected value" if witness["event"] is None else quoted(witness["event"])
    after = judged(witness["posterior"], witness["kind"], limit=witness["limit"])
    told = (
        f"The worst case, {_who(witness)}: linked to {event} with {percent(witness['before'])} "
        f"before, {after} after; reached through {through(witness['view'])}."
    )
    if witness["shared"] == 1:
        return told
    shared = hidden_count(witness["shared"], public=public)
    return f"{told} {shared.capitalize()} people have the same figure."


def _who(witness: Record) -> str:
    person = witness.get("person")
    if person is None:
        return "someone whom this edition does not describe"
    # A band such as age/10 belongs to the attribute before the stroke.
    known = [
        name
        for name in person
        if any(a == name or a.startswith(f"{name}/") for a in witness["view"])
    ]
    described = [f"{isolated(name)} {isolated(person[name])}" for name in known]
    if not described:
        return "a person of whom nothing needs to be known"
    return f"a person with {joined(described)}"


def meaning(facts: Facts) -> str:
    """What a verdict does for a decision."""
    return {
        True: "Every published person keeps at least the protection that was asked for, against "
        "the adversary described below. Read the limits before you publish.",
        False: "Do not publish this as it stands. Some people are linked to what should be "
        "protected more surely than was asked for.",
        None: "Do not publish this on the strength of this report: safety could not be shown.",
    }[facts.verdict["robust"]]


def assumptions(facts: Facts) -> list[tuple[str, str]]:
    """What the adversary is taken to know and to be able to do."""
    spec, found = facts.spec, facts.verdict
    lines = [
        (
            "What they see",
            "The whole release: who is in which group, and which values of "
            f"{quoted(spec['sensitive'])} occur in each group, but not who has which.",
        ),
        ("Whom they recognise", f"Everybody, by {listed(spec['qi'])}."),
        ("What they know besides", _knowledge(facts)),
        ("How they reason", _adversary(found["adversary"])),
        ("How surely it was computed", _kinds(found["posteriors"])),
    ]
    if spec["publish_members"]:
        lines.append(
            (
                "Values of an event",
                "The single values of a protected set are published, and were judged as published.",
            )
        )
    return lines


def _knowledge(facts: Facts) -> str:
    spec, views = facts.spec, facts.verdict["views"]
    if spec["outside"]:
        return f"What a file of outside knowledge says, in {views} views ({_source(facts)})."
    if spec["chosen_views"]:
        sets = "chosen combinations"
    elif spec["max_attributes"]:
        sets = f"combinations of up to {spec['max_attributes']}"
    else:
        sets = "all combinations"
    bands = ""
    if spec["bands"]:
        listed_bands = listed([f"{name} in steps of {width:g}" for name, width in spec["bands"]])
        bands = f" They also know {listed_bands}."
    return (
        f"How {quoted(spec['sensitive'])} is distributed among people who share attribute values, "
        f"for {sets} of these attributes: {views} views. Exactly, wherever at least "
        f"{spec['min_support']:,} people share the values (min_support); otherwise only as in the "
        f"whole table.{bands}"
    )


def _source(facts: Facts) -> str:
    return isolated(facts.verdict["knowledge"])


def _adversary(name: str) -> str:
    if name == "joint":
        return (
            "Jointly: they weigh every way to hand out the group's values, by the probability of "
            "each value for each person. This is the stronger of the two adversaries."
        )
    return (
        "One event against the rest: they do not use what they know of the other values. The joint "
        "adversary is stronger, and was not asked for."
    )


def _kinds(counts: dict[str, int]) -> str:
    total = sum(counts.values())
    if not total:
        return "There was nothing to compute."
    words = {"exact": "exactly", "bound": "as certified upper bounds", "estimate": "as estimates"}
    parts = [f"{count:,} {words[kind]}" for kind, count in counts.items() if count]
    text = f"{total:,} combinations of group, view and event: {listed(parts)}."
    if counts.get("estimate"):
        text += " An estimate can call a breach, but never calls a release robust."
    return text


def limits_of_theory(facts: Facts, *, public: bool) -> list[tuple[str, str]]:
    """What the verdict does not promise, in plain words."""
    found = facts.verdict
    limit = percent(facts.limits[-1])
    guess = found["guess_rate"]
    known = hidden_count(found["known_before"], public=public)
    lines = [
        (
            "Groups are judged one by one.",
            "Somebody who knows how groups are formed may do better. Measured here with the truth "
            "in hand: pointing at the likeliest member of each group is right in "
            f"{percent(guess)} of cases, in the worst view.",
        ),
        (
            "What is known already stays known.",
            f"{known} published people were linked to an event above {limit} by general knowledge "
            "alone, before anything was published. No truthful release can change that.",
        ),
        (
            "Views are taken one at a time.",
            "Somebody who combines them all, with a statistical model for instance, can know more "
            "than any single view tells.",
        ),
        ("Missing rows tell something.", _missing(found, public=public)),
        (
            "Other sources count.",
            "The verdict holds for the attributes named here. Another column, another release of "
            "the same people, or a person's own secrets told elsewhere are outside of it.",
        ),
    ]
    if facts.spec["min_support"] > 1 and not facts.spec["outside"]:
        lines.insert(
            3,
            (
                "Small groups of people are assumed to be unknown.",
                f"Below {facts.spec['min_support']:,} people who share the same values, the "
                "adversary is taken to know nothing special. Lower min_support to assume more.",
            ),
        )
    return lines


def _missing(found: Record, *, public: bool) -> str:
    if not found["suppressed"]:
        return "Here every row is published, so nothing can be concluded from an absence."
    carriers = hidden_count(found["suppressed_carriers"], public=public)
    return (
        f"{people(found['suppressed'])} of the table, {carriers} with a protected event, are not "
        "in the release. Somebody who knows that a person was in the table can draw conclusions "
        "from that."
    )
