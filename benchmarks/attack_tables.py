"""The tables of whom a release withstands, each from one section of the results."""

from __future__ import annotations

from typing import Any

from benchmarks.markdown import percent, rate, table


def redteam(results: dict[str, Any]) -> str:
    """A line per attacker, a column per method; ART's own from the worst case, of one seed."""
    r = results["redteam"]["lines"][0]["r"]
    own = min(
        (one for one in results["worst_case"] if (one["table"], one["r"]) == ("Adult", r)),
        key=lambda one: (one["limit"], one["seed"]),
    )
    mine = {
        name: ((tries, hits), (quiet, right), name in own["beaten_by"])
        for name, (tries, hits, quiet, right, *_) in own["attackers"].items()
    }
    made = [line for line in results["redteam"]["lines"] if "failed" not in line]
    found = [mine, *({one["attacker"]: _told(one) for one in line["attackers"]} for line in made)]
    names = list(dict.fromkeys(name for some in found for name in some))
    rows = [(name, *(_named(some.get(name)) for some in found)) for name in names]
    guessed = [max(all_[0] for name, (all_, *_) in some.items() if name in CASES) for some in found]
    rows.append(("*people named*", *(f"{tries:,}" for tries in guessed)))
    return table(("attacker", "ART", *(line["method"] for line in made)), rows)


CASES = ("likeliest", "counter-class")
"""Attackers who name somebody in every group."""
Tried = tuple[int, int]
Told = tuple[Tried, Tried, bool]
"""Whom somebody named and how many of these carry: of all, and of people not known before; and
whether the limit is beaten."""


def _told(one: dict[str, Any]) -> Told:
    every, quiet = one["everybody"], one["unknown_before"]
    tried = [(some["tries"], some["hits"]) for some in (every, quiet)]
    return tried[0], tried[1], one["beats_limit"]


def _named(one: Told | None) -> str:
    """How often somebody is right; bold if beyond chance."""
    if one is None or not one[0][0]:
        return ""
    shown = " / ".join(percent(hits / tries) for tries, hits in one[:2] if tries)
    return f"**{shown}**" if one[2] else shown


def neighbours(results: dict[str, Any]) -> str:
    """What a change of one value changes for the person, and for others of its class."""
    head = ("change", "whose group", "holds an event before", "after", "mean size before",
            "after")  # fmt: skip
    rows = []
    for line in results["neighbours"]["lines"]:
        for who, name in (("changed", "the person's"), ("others", "others' of the stratum")):
            both = [line[who][side] for side in ("before", "after")]
            sizes = [f"{one['mean_size']:.2f}" for one in both]
            rows.append((line["change"], name, *(rate(one) for one in both), *sizes))
    return table(head, rows)
