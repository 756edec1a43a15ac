"""The chart of what was run: how surely people can be linked, against how far counts are off."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.report.charts.stored import Chart, Record, chart, label
from shoal.wording import percent


def found_chart(tried: Sequence[Record]) -> Chart:
    """A point for each setting, or run, with a release; those that nothing beats in both are joined
    and named. Where each has an `address`, all are named and lead there."""
    records = [
        {
            "risk": one["largest_chance"],
            "error": one["error"],
            "label": label(one["words"]),
            "words": f"{label(one['words'])}: {percent(one['largest_chance'])}, "
            f"error {percent(one['error'])}",
            "address": one.get("address"),
            "holds": one["robust"] is True,
        }
        for one in tried
        if one["error"] is not None
    ]
    holding = [one for one in records if one["holds"]]
    for one in records:
        one["best"] = one["holds"] and not any(_beats(other, one) for other in holding)
        one["named"] = one["best"] or one["address"] is not None
    made = chart("found", height=300, records=records)
    if any(one["address"] for one in records):
        made["layer"][1]["encoding"]["href"] = {"field": "address"}
    return made


def _beats(one: Record, other: Record) -> bool:
    """Whether it is no worse in both, and better in one."""
    no_worse = one["risk"] <= other["risk"] and one["error"] <= other["error"]
    return no_worse and (one["risk"], one["error"]) != (other["risk"], other["error"])
