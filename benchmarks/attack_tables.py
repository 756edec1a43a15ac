"""The tables of whom a release withstands, each from one section of the results."""

from __future__ import annotations

from typing import Any

from benchmarks.markdown import Lines, percent, rate, table


def redteam(results: dict[str, Any]) -> str:
    """A line per attacker, a column per method."""
    lines: Lines = results["redteam"]["lines"]
    made = [line for line in lines if "failed" not in line]
    found = [{one["attacker"]: one for one in line["attackers"]} for line in made]
    names = list(dict.fromkeys(name for some in found for name in some))
    rows = [(name, *(_named(some.get(name)) for some in found)) for name in names]
    guessed = [max(one["everybody"]["tries"] for one in line["attackers"]
                   if one["control"]) for line in made]  # fmt: skip
    rows.append(("*people named*", *(f"{tries:,}" for tries in guessed)))
    rows.append(("*seconds*", *(f"{line['seconds']:.0f}" for line in made)))
    shown = table(("attacker", *(line["method"] for line in made)), rows)
    failed = [f"{line['method']}: {line['failed']}\n" for line in lines if "failed" in line]
    return shown + "".join(failed)


def _named(one: dict[str, Any] | None) -> str:
    """How often somebody is right, of all and of people not known before; bold if beyond chance."""
    if one is None or not one["everybody"]["tries"]:
        return ""
    quiet = one["unknown_before"]
    shown = percent(one["everybody"]["rate"])
    shown += f" / {percent(quiet['rate'])}" if quiet["tries"] else ""
    return f"**{shown}**" if one["beats_limit"] else shown


def neighbours(results: dict[str, Any]) -> str:
    """What a change of one value changes for the person, and for others of its class."""
    head = ("change", "whose group", "holds an event before", "after", "mean size before",
            "after")  # fmt: skip
    rows = []
    for line in results["neighbours"]["lines"]:
        for who, name in (("changed", "the person's"), ("others", "others' of the class")):
            both = [line[who][side] for side in ("before", "after")]
            sizes = [f"{one['mean_size']:.2f}" for one in both]
            rows.append((line["change"], name, *(rate(one) for one in both), *sizes))
    return table(head, rows)
