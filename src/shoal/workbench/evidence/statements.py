"""What only people can state, as it stands: by a person, proposed by shoal, or by nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from shoal.auditing.check_words import LABELS, label, titled
from shoal.auditing.checks import verdict
from shoal.release.facts import Facts
from shoal.report.sentences import lookup_sentence
from shoal.wording import joined, percent, verdict_words
from shoal.workbench.project.context import PARTS, TITLES, Context, meanings

By = Literal["person", "confirmed", "shoal", "nobody"]
WORDS: Mapping[By, str] = {
    "person": "stated by a person",
    "confirmed": "proposed by shoal, confirmed by a person",
    "shoal": "proposed by shoal, NOT CONFIRMED by a person",
    "nobody": "not stated",
}


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One thing that only a person can state."""

    name: str
    title: str
    asks: str
    text: str
    by: By


def statements(context: Context, facts: Facts) -> dict[str, list[Statement]]:
    """All of them, by the parts of the page."""
    return {
        part: [_statement(name, context, facts) for name in names] for part, names in PARTS.items()
    }


def _statement(name: str, context: Context, facts: Facts) -> Statement:
    text, proposal = getattr(context, name), proposals(facts).get(name, "")
    by: By = "person" if text else "shoal" if proposal else "nobody"
    if text and _same(text, proposal):
        by = "confirmed"
    return Statement(
        name=name, title=TITLES[name], asks=meanings()[name], text=text or proposal, by=by
    )


def reason_by(reason: str, guess: str, confirmed: str) -> By:
    """Whose a reason for the role of a column is."""
    if not reason:
        return "nobody"
    if not _same(reason, guess):
        return "person"
    return "confirmed" if _same(reason, confirmed) else "shoal"


def proposals(facts: Facts) -> dict[str, str]:
    """What shoal proposes to state, from its figures."""
    return {"residual_risk": _residual(facts)}


def _residual(facts: Facts) -> str:
    found, checks = facts.verdict, facts.checks
    open_ = [
        title.lower() for check, title, _ in titled(checks) if label(check) == LABELS["not asked"]
    ]
    told = [
        f"By its checks the release is {verdict_words(verdict(checks))}.",
        *(said for check, _, said in titled(checks) if check.state in ("broken", "undecided")),
        "The link to a protected value by one view that is nearest to its limit is "
        f"{percent(found.nearest_link)}.",
        lookup_sentence(facts),
        f"Not covered: {joined(open_)}." if open_ else "",
    ]
    return " ".join(filter(None, told))


def _same(one: str, other: str) -> bool:
    return bool(one) and one.split() == other.split()
