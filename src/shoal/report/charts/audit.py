"""Charts of an audit, and of an attack: what each attacker achieves, beside what they should."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.auditing.attacked import AttackerResult, AttackResult
from shoal.release.facts.records import Bar, RiskBin, SizeBin, ViewFacts
from shoal.report.charts.stored import Chart, Record, chart, label
from shoal.report.public import hidden_count, judged
from shoal.wording import percent

MOST_VIEWS = 12
LINE = 38
"""Pixels for each line of a chart."""
SHARE = "probability, as a share of the limit"


def risk_chart(
    bins: Sequence[RiskBin],
    when: str,
    *,
    limit: float,
    span: float,
    top: float,
    relative: bool = False,
) -> Chart:
    """How many people have which probability (or share of their limit), with the limit's line."""
    records = [
        {
            "low": one.low,
            "high": one.high,
            "height": one.people / one.parts,
            "over": one.high > limit + 1e-9,
            "range": f"{percent(one.low)} to {percent(one.high)}",
            "count": f"{one.people:,}",
        }
        for one in bins
        if one.people
    ]
    return chart(
        "risk",
        height=150,
        bins=records,
        across=SHARE if relative else "probability of the protected event",
        ranges="share of limit" if relative else "probability",
        colour="var(--before)" if when == "before" else "var(--after)",
        span=span,
        top=top,
        limits=_limits(limit, relative=relative),
    )


def view_chart(
    views: Sequence[ViewFacts], *, limit: float, relative: bool = False, public: bool = False
) -> Chart:
    """Views by the worst posterior (or share of its limit) that they reach."""
    shown = views[:MOST_VIEWS]
    reached = (limit * max(one.exposure, one.exposure_before) for one in shown)
    records = [
        {
            "place": place,
            "label": label(one.name),
            "worst": one.exposure * limit,
            "before": one.exposure_before * limit,
            "earlier": percent(one.before),
            "over": one.exposure > 1 + 1e-12,
            "text": judged(one.worst, one.kind, limit=one.worst / (one.exposure or 1)),
            "people": hidden_count(one.problematic, public=public),
        }
        for place, one in enumerate(shown)
    ]
    return chart(
        "views",
        height=LINE * len(records) + 8,
        records=records,
        across=SHARE if relative else "highest probability that anybody reaches",
        span=1.12 * max([limit, *reached]),
        limits=_limits(limit, relative=relative),
    )


def delta_chart(views: Sequence[ViewFacts]) -> Chart:
    """Each view's mean deviation beside the bound of Theorem 1."""
    by_ratio = sorted(views, key=lambda one: -(one.delta / one.bound if one.bound else 0))
    by_ratio = by_ratio[:MOST_VIEWS]
    records = [
        {"place": place, "label": label(one.name), "delta": one.delta, "bound": one.bound}
        for place, one in enumerate(by_ratio)
    ]
    span = 1.08 * max([1e-6, *(max(one.delta, one.bound) for one in by_ratio)])
    return chart("deltas", height=LINE * len(records) + 8, records=records, span=span)


def size_chart(bins: Sequence[SizeBin]) -> Chart:
    """How many groups have which size, with an event in them and without."""
    first = next((place for place, one in enumerate(bins) if one.people), 0)
    kinds = (("with_event", "with a protected event"), ("without", "without"))
    records = [
        {
            "size": span_text(one.low, one.high),
            "groups": getattr(one, kind),
            "number": f"{getattr(one, kind):,}",
            "kind": name,
            "order": order,
        }
        for one in bins[first:]
        for order, (kind, name) in enumerate(kinds)
    ]
    return chart("sizes", height=170, records=records)


def distribution_chart(bars: Sequence[Bar]) -> Chart:
    """One column's values before and after, as shares."""
    records = [
        {
            "place": place,
            "label": label(one.label, 24),
            "when": when,
            "share": share,
            "text": percent(share),
            "order": order,
        }
        for place, one in enumerate(bars)
        for order, (when, share) in enumerate((("before", one.before), ("after", one.after)))
    ]
    return chart("distribution", height=22 * len(bars) + 16, records=records)


def span_text(low: int, high: int) -> str:
    """5, or 10–14."""
    return f"{low}" if low == high else f"{low}–{high}"


def _limits(limit: float, *, relative: bool) -> list[Record]:
    return [{"limit": limit, "label": "limit" if relative else f"limit {percent(limit)}"}]


def attack_chart(found: AttackResult) -> Chart | None:
    """The rate of each attacker who has a control, with its interval; the same without the release,
    the control, and the limit that people not known beforehand are promised."""
    named = [one for one in found.attackers if one.control is not None]
    if not named:
        return None
    records = [_record(place, one) for place, one in enumerate(named)]
    marks = ("high", "without", "control", "limit")
    reached = [one[mark] for one in records for mark in marks if one[mark] is not None]
    span = 1.06 * max([0.01, *reached])
    return chart("attack", height=LINE * len(records) + 8, records=records, span=span)


def _record(place: int, one: AttackerResult) -> Record:
    everybody, control = one.everybody, None if one.control is None else one.control.rate
    return {
        "place": place,
        "label": label(one.attacker),
        "rate": everybody.rate,
        "low": everybody.low,
        "high": everybody.high,
        "without": one.baseline,
        "control": control,
        "limit": one.promised,
        "beats": one.beats_limit,
        "found": f"{percent(everybody.rate)} of {everybody.tries:,}",
        "earlier": _shown(one.baseline),
        "claimed": _shown(control),
        "promised": _shown(one.promised),
    }


def _shown(share: float | None) -> str:
    return "none" if share is None else percent(share)
