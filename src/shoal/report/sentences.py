"""What the report says in whole sentences, from its facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shoal.auditing.check_words import (
    VERDICT_TONES,
    before_words,
    coloured,
    in_full,
    known_words,
    largest_words,
    lookup_words,
    words,
)
from shoal.auditing.checks import verdict
from shoal.auditing.findings import Findings, PublicFindings, PublicWitness, Witness
from shoal.release.facts.contents import Facts
from shoal.report.measured import attack_sentence, class_errors_in_short
from shoal.report.public import FEW, hidden_count, judged
from shoal.wording import (
    ALL_VIEWS,
    SECRET_WORDS,
    WEIGHTED_WORDS,
    WHOLE,
    apart_words,
    isolated,
    joined,
    limit_named,
    listed,
    people,
    percent,
    quoted,
    seed_words,
    through,
    verdict_words,
)

MOST_LIMITS = 4
"""Of more events than this the headline gives the range of their limits."""


def checks_said(facts: Facts, *, public: bool) -> list[tuple[str, str, str, str]]:
    """Each check: the class of its colour, the word for its state, its title and its sentence."""
    full = in_full(facts.verdict, facts.spec.sensitive, fewest=FEW if public else 1)
    if facts.attack is not None:
        full["attack"] = attack_sentence(facts.attack, short=True)
    return coloured(facts.checks, lambda count: hidden_count(count, public=public), full)


def tone(facts: Facts) -> str:
    """The class of the verdict's colour: green only where all that was asked for is kept."""
    return VERDICT_TONES[verdict(facts.checks)]


def verdict_sentence(facts: Facts, *, public: bool) -> str:
    """The verdict, with what it rests on most; all checks are listed below."""
    found, robust = facts.checks, verdict(facts.checks)
    asked = [check for check in found if check.state != "not asked"]
    head = f"{verdict_words(robust).capitalize()} at {_asked(facts)}"
    head += f"{limit_named(facts.verdict.limit)}: "
    if robust:
        event = quoted(facts.events[0].label) if len(facts.events) == 1 else "a protected value"
        largest = largest_words(found, "a protected value" if _by_event(facts) else event)
        return f"{head}all {len(asked)} checks are kept. {largest}".strip()
    state, said = ("undecided", "not decided") if robust is None else ("broken", "broken")
    telling = [check for check in found if check.state == state]
    first = words(replace(telling[0], worst=None), lambda one: hidden_count(one, public=public))
    more = f" {len(telling)} of {len(asked)} checks are {said}." if len(telling) > 1 else ""
    return f"{head}{first}.{more}"


def _by_event(facts: Facts) -> bool:
    """Whether events have limits of their own."""
    return len(facts.limits) > 1


def _asked(facts: Facts) -> str:
    """The r that was asked for, or the limits of the events where they differ."""
    if not _by_event(facts):
        return f"r = {1 / facts.limits[0]:g}"
    every = {event.limit for event in facts.events} == set(facts.limits)
    if every and len(facts.events) <= MOST_LIMITS:
        own = [f"{percent(event.limit)} for {quoted(event.label)}" for event in facts.events]
        return f"each event's own limit ({joined(own)})"
    return f"each event's own limit ({percent(facts.limits[0])} to {percent(facts.limits[-1])})"


def known_sentence(facts: Facts, *, public: bool) -> str:
    """Whom public statistics link above the limit already."""
    limit = "their event's limit" if _by_event(facts) else f"1/r ({percent(facts.limits[0])})"
    found = facts.verdict
    return known_words(
        found.known_before,
        limit,
        lambda one: hidden_count(one, public=public),
        found.together_before,
        found.most_before,
    )


def story(witness: PublicWitness | None, *, public: bool, undecided: int = 0) -> str:
    """The worst case as a story; without the person where the edition has none.

    Where people could not be decided, it is the worst that was found and not the worst there is.
    """
    if witness is None:
        return "No published group holds a protected event, so there is nobody to link to one."
    event = "a rare protected value" if witness.event is None else quoted(witness.event)
    after = judged(witness.posterior, witness.kind, limit=witness.limit)
    largest = "The worst case that was found" if undecided else "The worst case"
    if ALL_VIEWS not in witness.view:  # all checks that are broken may be about others
        largest += " by one view at a time"
    told = (
        f"{largest}: {_who(witness)} is linked to {event} with {after}, through "
        f"{through(witness.view)}{before_words(witness)}"
    )
    if witness.shared == 1:
        return told
    shared = hidden_count(witness.shared, public=public)
    return f"{told} {shared.capitalize()} people are linked as surely as that."


def _who(witness: PublicWitness) -> str:
    if not isinstance(witness, Witness):
        return "someone whom this edition does not describe"
    # A band such as age/10 belongs to the attribute before the stroke.
    known = [
        name
        for name in witness.person
        if ALL_VIEWS in witness.view
        or any(a == name or a.startswith(f"{name}/") for a in witness.view)
    ]
    described = [f"{isolated(name)} {isolated(witness.person[name])}" for name in known]
    if not described:
        return "a person of whom nothing needs to be known"
    return f"a person with {joined(described)}"


def in_short(facts: Facts) -> list[tuple[str, str]]:
    """What else is a part of the decision."""
    if facts.queries is None or not facts.queries.classes.worst:
        return []
    return [("Counts of cases by stratum", class_errors_in_short(facts.queries))]


def lookup_sentence(facts: Facts) -> str:
    """Who can be looked up by published attributes, which anybody can count; records that older
    versions kept do not say."""
    lookup = facts.verdict.lookup
    return "" if lookup is None else lookup_words(lookup)


def seed_sentence(facts: Facts) -> str:
    """By what chance decided."""
    seed = facts.repeat.seed
    if facts.certificate is None:
        return "" if seed is None else f"Estimates are by the seed {seed}."
    return SECRET_WORDS if seed is None else seed_words(seed)


def meaning(facts: Facts) -> str:
    """What a verdict does for a decision."""
    return {
        True: "Read what is gray before you publish.",
        False: "Do not publish this as it stands. Some people are linked to what should be "
        "protected more surely than was asked for.",
        None: "Do not publish this on the strength of this report: safety could not be shown.",
    }[verdict(facts.checks)]


def _weights(facts: Facts) -> str:
    told = facts.queries is not None and facts.queries.classes.weights
    return (
        " Also a weight for each person, for estimates: how much of a case they count as, which "
        "is nowhere above a limit."
        if told
        else ""
    )


def assumptions(facts: Facts) -> list[tuple[str, str]]:
    """What the adversary is taken to know and to be able to do."""
    spec, found = facts.spec, facts.verdict
    lines = [
        (
            "What they see",
            "The whole release: who is in which group, and which values of "
            f"{quoted(spec.sensitive)} occur in each group, but not who has which, unless all "
            f"of a group have the same one.{_weights(facts)}",
        ),
        ("Whom they recognize", f"Everybody, by {listed(spec.qi)}."),
        ("What they know besides", _knowledge(facts)),
        ("How they reason", _reasoning(found.reasoning)),
        ("How surely it was computed", _kinds(found.posteriors)),
    ]
    if recodings := spec.recoded:
        told = "; ".join(f"{quoted(name)}: {isolated(words)}" for name, words in recodings)
        lines.insert(
            0,
            (
                "What was recoded beforehand",
                f"{told}. All that is said here is of the columns as they are then; what they held "
                "before is published nowhere.",
            ),
        )
    if titles := spec.titles:
        told = "; ".join(f"{quoted(name)}: {isolated(title)}" for name, title in titles)
        lines.insert(0, ("What columns mean", f"{told}."))
    if spec.publish_apart:
        lines.append(("Columns published apart", apart_words(quoted(spec.sensitive))))
    if spec.publish_members:
        lines.append(
            (
                "Values of an event",
                "The single values of a protected set are published, and were judged as published.",
            )
        )
    return lines


def _knowledge(facts: Facts) -> str:
    told = f"{_known_of_classes(facts)}{_known_by_models(facts)}"
    assumed = facts.verdict.assumed
    return " ".join([told, *([] if assumed is None else assumed.sentences)])


def _known_by_models(facts: Facts) -> str:
    """What models say, and how well."""
    parts = []
    for one in facts.verdict.fitted:
        told = [
            f"{quoted(event.event)} with an AUC of {event.auc:.2f} and chances that are off "
            f"by {percent(event.calibration)} on average"
            for event in one.public().quality
            if event.auc is not None
        ]
        fitted = f", cross-fitted in {one.folds} folds" if one.folds else ""
        found = f"; it predicts {joined(told)}" if told else ""
        parts.append(
            f" They also know what a model of all these attributes says of each person "
            f"({isolated(one.name)}{fitted}{found}). It has no strata, so that counting and "
            "being left out are judged without it."
        )
    return "".join(parts)


def _known_of_classes(facts: Facts) -> str:
    spec, count = facts.spec, facts.verdict.views - len(facts.verdict.fitted)
    count //= 1 + spec.weighted
    views = "1 view" if count == 1 else f"{count:,} views"
    if spec.outside:
        file = isolated(facts.verdict.knowledge)
        return f"What a file of outside knowledge says, in {views} ({file})."
    if spec.chosen_views:
        sets = "chosen combinations"
    elif spec.max_attributes:
        sets = f"combinations of up to {spec.max_attributes}"
    else:
        sets = "combinations"
    bands = ""
    if spec.bands:
        listed_bands = listed([f"{name} in steps of {width:g}" for name, width in spec.bands])
        bands = f" They also know {listed_bands}."
    if quantiles := spec.quantiles:
        told = listed([f"{name} in {number} bands" for name, number in quantiles])
        bands += f" They know {told} of about as many people each, since few share one value."
    if unseen := spec.in_no_view:
        bands += (
            f" By {listed(unseen)} they know nothing: no value has {spec.min_support:,} people."
        )
    return (
        f"How {quoted(spec.sensitive)} is distributed among people who share attribute values, "
        f"in {views}, {sets} of these attributes. Exactly, wherever at least "
        f"{spec.min_support:,} people share the values (min_support); otherwise only as in the "
        f"whole table.{bands}" + (f" {WEIGHTED_WORDS}" if spec.weighted else "")
    )


def _combined(adversaries: Sequence[str]) -> tuple[str, str]:
    """What remains of combining views."""
    if list(adversaries) == [WHOLE]:
        return (
            "All views at once are read by counts.",
            "Somebody who combines them with more than counts of these attributes, such as a model "
            "of other data, can know more.",
        )
    told = (
        "Somebody who combines them all, with a statistical model for instance, can know more "
        "than any single view says."
    )
    if WHOLE in adversaries:
        told += f" The {WHOLE} adversary does, by counts, within a wider limit: see the verdict."
    return "The limit of one view holds for one view at a time.", told


_READERS = ("joint", "binary", WHOLE)


def _reasoning(reasoning: Mapping[str, str]) -> str:
    """How each adversary reasons, and which of the usual ones was not asked."""
    told = [f"The {quoted(name)} adversary {how}." for name, how in reasoning.items()]
    told += [
        f"The {other} adversary weighs other odds and may come to higher figures: none contains "
        f"another. “shoal audit --adversary {other}” shows them."
        for other in _READERS
        if other not in reasoning
    ]
    if WHOLE in reasoning:
        told.append(
            f"The limit of the {WHOLE} adversary is four times the odds of 1/r, or of what all "
            "counts together say of a person before publication, if that is more; its figures are "
            "those of the distribution of largest entropy."
        )
    return " ".join(told)


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
    limit = "its limit" if _by_event(facts) else percent(facts.limits[0])
    known = hidden_count(found.known_before, public=public)
    lines = [
        (
            "Nobody is taken to know how groups are made.",
            "Somebody who does may be surer (“shoal attack” measures it)." + _measured_guess(found),
        ),
        (
            "What is known already stays known.",
            f"{known} published people were linked to an event above {limit} by public statistics "
            "alone, before anything was published. To withhold the release would not undo that.",
        ),
        _combined(found.names),
        ("Missing people are judged by the table.", _missing(found, public=public)),
        (
            "Other sources count.",
            "The verdict holds for the attributes named here. It does not cover another column, "
            "another release of the same people, or what people say of themselves.",
        ),
    ]
    if facts.spec.min_support > 1 and not facts.spec.outside:
        lines.insert(
            3,
            (
                "Small groups of people are assumed to be unknown.",
                f"Below {facts.spec.min_support:,} people who share the same values, the "
                "adversary is taken to know nothing special. Lower min_support to assume more.",
            ),
        )
    return lines


def _measured_guess(found: PublicFindings) -> str:
    """How well guessing works; it tells of true carriers, so the public edition has no figure."""
    if not isinstance(found, Findings):
        return ""
    return (
        " A simple guess, the likeliest member of each group in one view, is right in "
        f"{percent(found.guess_rate)} of the groups, in the worst view."
    )


def _missing(found: PublicFindings, *, public: bool) -> str:
    if not found.suppressed:
        return "Here every row is published, so nobody is missing."
    carriers = hidden_count(found.suppressed_carriers, public=public)
    return (
        f"{people(found.suppressed)} of the table, {carriers} with a protected event, are not "
        "in the release. Somebody who knows that a person was in the table, and knows how many of "
        "the missing of each stratum have a protected value, is part of the verdict; somebody who "
        "knows why rows are left out may conclude more."
    )
