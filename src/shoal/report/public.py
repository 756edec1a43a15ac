"""The public edition's facts: nothing of one person, nothing of fewer than five."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from shoal.auditing.findings import Kind, PublicFindings
from shoal.data.storage import redact
from shoal.plain import typed
from shoal.release.facts.bins import merge_small
from shoal.release.facts.contents import Facts
from shoal.release.facts.loss import REST
from shoal.release.facts.records import Bar, ColumnLoss, RiskBin
from shoal.wording import percent

# How the report speaks of posteriors, of few people and of commands.

FEW = 5
"""The public edition says nothing about fewer people than this."""
_LEADS: dict[str, str] = {"exact": "", "bound": "at most ", "estimate": "about "}


def judged(posterior: float, kind: Kind, *, limit: float) -> str:
    """A posterior with what is known of it: "9.8 %", "at most 9.8 %", "about 9.8 %"."""
    over = limit if posterior > limit + 1e-12 else None
    return _LEADS[kind] + percent(posterior, over=over, up=kind == "bound")


def hidden_count(count: int, *, public: bool) -> str:
    """A number of people; in the public edition a small one is only called small."""
    return f"fewer than {FEW}" if public and 0 < count < FEW else f"{count:,}"


def command_line(arguments: Sequence[str]) -> str:
    """A command as it can be typed again, without passwords."""
    return shlex.join(["shoal", *(redact(argument) for argument in arguments)])


def public_facts(facts: Facts) -> Facts:
    """What of the facts may stand beside a release.

    Rows, group numbers, QI values and the command are left out; counts of people below five are
    merged with their neighbours; events with fewer carriers than that lose their name. So is what
    was measured with the truth in hand (right guesses, carriers at risk, errors of queries): who
    truly carries an event can be narrowed down from it.
    """
    rare = {event.label for event in facts.events if event.carriers < FEW}
    found, spec = typed(PublicFindings, facts.verdict), facts.spec
    worst = found.worst
    if worst is not None and worst.event in rare:
        worst = replace(worst, event=None)
    own = f"the table itself, min_support {spec.min_support}"
    return replace(
        facts,
        verdict=replace(
            found,
            worst=worst,
            # What it says may name a file.
            knowledge="a file of outside knowledge" if spec.outside else own,
            fitted=tuple(one.public() for one in found.fitted),
        ),
        events=tuple(event for event in facts.events if event.label not in rare),
        risk={
            when: public_risk(bins, 1.0 if facts.relative else facts.limits[0])
            for when, bins in facts.risk.items()
        },
        views=tuple(replace(view, guess=None) for view in facts.views),
        queries=None,
        attack=facts.attack and facts.attack.public(),
        sizes=merge_small(facts.sizes, FEW),
        loss=tuple(_aggregate(column) for column in facts.loss),
        people=(),
        spec=replace(spec, toml=spec.public_toml),
        repeat=replace(facts.repeat, command=None),
    )


def public_risk(bins: Sequence[RiskBin], limit: float) -> tuple[RiskBin, ...]:
    """A histogram without small counts; it is merged across the limit only if it must be."""
    below = [one for one in bins if one.high <= limit + 1e-9]
    sides = [below, bins[len(below) :]]
    merged = [merge_small(side, FEW) for side in sides]
    if any(side and not done for side, done in zip(sides, merged, strict=True)):
        return merge_small(bins, FEW)
    return merged[0] + merged[1]


def _aggregate(column: ColumnLoss) -> ColumnLoss:
    if column.role == "QI":
        return replace(column, bars=())
    rare = [bar for bar in column.bars if bar.label == REST or _few(bar)]
    bars = [bar for bar in column.bars if bar not in rare]
    rest = Bar(REST, sum(bar.before for bar in rare), sum(bar.after for bar in rare))
    if rare and not _few(rest):
        bars.append(rest)
    return replace(column, bars=tuple(bars))


def _few(bar: Bar) -> bool:
    return bool(0 < min(bar.before, bar.after or FEW) < FEW)
