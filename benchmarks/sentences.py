"""Single sentences of README.md, each from one line of the results."""

from __future__ import annotations

from typing import Any

from benchmarks.markdown import percent


def surprise(results: dict[str, Any]) -> str:
    """What the audit of ARX's 10-diverse file says of those who have the event."""
    (line,) = [one for one in results["arx"]["lines"] if one["adversary"] == "joint"]
    return (
        f"ARX 3.9.2 made UCI's Adult data *10-diverse*. **{percent(line['problematic_share'])} of "
        f"the people with less than secondary education** ({line['problematic_carriers']:,} of "
        f"{line['carriers']:,}) can still be linked to it with more than "
        f"{percent(1 / line['r'], 0)}, one with {percent(line['worst_posterior'], 0)}: people of "
        "one group differ in how likely it is for them.\n"
    )


def fast(results: dict[str, Any]) -> str:
    """From a file to a release, beside Polars doing the obvious part of it."""
    lines = results["ratios"]["lines"]
    rows = max(one["rows"] for one in lines)
    named = {one["name"]: one for one in lines if one["rows"] == rows}
    whole = named["end to end / Polars (csv)"]
    return (
        f"A CSV of {rows:,} rows is read, published and written in {whole['shoal']:.0f} seconds; "
        f"Polars takes {whole['other']:.1f} to read, group and write it "
        "([benchmarks](docs/benchmarks.md)).\n"
    )
