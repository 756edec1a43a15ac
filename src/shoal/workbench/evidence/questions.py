"""The three questions of WP216 on anonymisation, answered from figures: singling out, linkability,
inference. What was not computed is said to be so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

from shoal.auditing.attacked import AttackerResult, AttackResult, Hits
from shoal.auditing.check_words import before_words, words
from shoal.release.facts import Facts
from shoal.report.public import judged
from shoal.report.sentences import checks_said, known_sentence, lookup_sentence
from shoal.wording import people, percent, quoted, readable_words
from shoal.workbench.evidence.contents import Evidence
from shoal.workbench.evidence.values import KnownValue

Attacks = Sequence[AttackResult]
Answer = tuple[str, str, list[str]]
"""A question, what it asks, and the sentences that answer it."""


def answers(evidence: Evidence) -> list[Answer]:
    """Each question with what was computed for it."""
    facts, attacks = evidence.facts, evidence.attacks
    return [
        (
            "Singling out",
            "Can the record of one person be singled out in the release?",
            _singling_out(facts, evidence.certificate, attacks),
        ),
        (
            "Linkability",
            "Can records of one person be brought together, here or in another file?",
            _linkability(facts, attacks),
        ),
        (
            "Inference",
            "Can a sensitive value be concluded of a person?",
            [*_inference(facts, attacks), *_of_values(evidence.values)],
        ),
    ]


def _singling_out(facts: Facts, certificate: Mapping[str, Any], attacks: Attacks) -> list[str]:
    groups = certificate["groups"]
    told = [
        f"{groups['count']:,} groups were published, of {groups['smallest']:,} to "
        f"{groups['largest']:,} people; groups that hold a protected event have "
        f"{groups['mean_with_event']:.1f} people on average.",
        readable_words(
            facts.verdict.readable or 0,
            facts.verdict.readable_by_attributes,
            facts.spec.sensitive,
        ),
    ]
    if certificate["form"] == "bucketized":
        told.append(
            "The form bucketized publishes everybody's quasi-identifiers as they are: it hides who "
            "has which sensitive value, not who is in the table."
        )
    told += filter(None, [lookup_sentence(facts)])
    return [*told, _matched(attacks, "singling-out", "all quasi-identifiers")]


def _linkability(facts: Facts, attacks: Attacks) -> list[str]:
    lookup, published = facts.verdict.lookup, facts.verdict.published
    told = ["Not computed: how many lines another file is linked to (an older record)."]
    if lookup is not None:
        told = [
            f"Another file with the same attributes links to one line of the release alone for "
            f"{people(lookup.unique)} of {published:,} ({_part(lookup.unique, published)}), and to "
            f"fewer than {lookup.fewer_than.k:,} lines for {people(lookup.fewer_than.people)} "
            f"({_part(lookup.fewer_than.people, published)}). This is the figure to judge by."
        ]
    return [
        *told,
        "With less: "
        + _matched(attacks, "linkability", "two files with half of the quasi-identifiers each"),
        _other_releases(facts),
    ]


def _part(some: int, whole: int) -> str:
    return percent(some / whole) if whole else "of nobody"


def _other_releases(facts: Facts) -> str:
    for check in facts.checks:
        if check.name == "releases" and check.state != "not asked":
            return f"{words(check)}."
    return "Not computed: what another release of the same people adds."


def _of_values(values: Sequence[KnownValue] | None) -> list[str]:
    """What is concluded of all sensitive values, the unprotected ones among them."""
    if values is None:
        return ["Not computed: how surely values outside the events are concluded."]
    said = []
    for column in dict.fromkeys(one.column for one in values):
        mine = [one for one in values if one.column == column]
        likely, sure = (sum(getattr(one, name) for one in mine) for name in ("likely", "sure"))
        said.append(
            f"Of all {len(mine):,} values of {column}, protected or not: {people(likely)} "
            f"{'is' if likely == 1 else 'are'} linked to one with more than one half by their "
            f"attributes and the release alone, and the line of {people(sure)} leaves one value "
            "only. The table below has every value."
        )
    return said


def _matched(attacks: Attacks, attacker: str, known: str) -> str:
    """Whom an attacker with known attributes finds for sure."""
    reason = "no attack was run" if not attacks else "this attacker was not asked"
    for attack in attacks:  # who is found does not depend on the sensitive column
        for one in attack.attackers:
            if one.attacker == attacker:
                return _found(one.everybody, attacker, known)
        for left in attack.not_run:
            if left.attacker == attacker:
                reason = left.reason.rstrip(".")
    return f"Not computed: how many people are found for sure by {known} ({reason})."


def _found(rate: Hits, attacker: str, known: str) -> str:
    return (
        f"Somebody with {known} finds {rate.hits:,} of {rate.tries:,} people for sure "
        f"({percent(rate.rate)}, interval {percent(rate.low)} to {percent(rate.high)}; "
        f"attacker {quoted(attacker)})."
    )


def _inference(facts: Facts, attacks: Attacks) -> list[str]:
    worst = facts.verdict.worst
    told = []
    if worst is None:
        told.append("No published group holds a protected event.")
    else:
        link = judged(worst.posterior, worst.kind, limit=worst.limit)
        told.append(
            f"The largest link of a person to {quoted(worst.event or '')}, relative to its limit "
            f"of {percent(worst.limit)}, is {link}{before_words(worst)}"
        )
    asked = [one.state != "not asked" for one in facts.checks]
    said = [sentence for *_, sentence in checks_said(facts, public=False)]
    told += [*compress(said, asked), known_sentence(facts, public=False)]
    if not attacks:
        told.append("Not computed: how often attackers name cases rightly (no attack was run).")
    return [*told, *(_beaten(attack) for attack in attacks)]


def _beaten(attack: AttackResult) -> str:
    """Who of those who named people did better than the limit allows."""
    tried = [one for one in attack.attackers if one.promised is not None]
    named = sum(one.everybody.tries > 0 for one in tried)
    beaten = ", ".join(quoted(name) for name in attack.beaten_by)
    of = f" of {quoted(attack.column)}" if attack.column else ""
    said = f"these beat the limit beyond chance: {beaten}." if beaten else "none beat the limit."
    alone = ", ".join(quoted(one.attacker) for one in tried if above_alone(one))
    if alone:
        said += f" Taken alone, the interval of {alone} lies above it; one of many may, by chance."
    return f"Of {named:,} attackers who named cases{of}, {said}"


def above_alone(one: AttackerResult) -> bool:
    """Whether an attacker's own interval lies above the limit, and yet the limit is not beaten: the
    verdict allows for how many attackers tried."""
    pairs = ((one.everybody, one.allowed), (one.unknown_before, one.promised))
    return not one.beats_limit and any(
        limit is not None and rate.tries > 0 and rate.low > limit for rate, limit in pairs
    )
