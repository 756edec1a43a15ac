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


def insider(results: dict[str, Any]) -> str:
    """Attackers from within on ART and on the references; of insiders the one who is right most."""
    head = ("table", "r", "1/r", "groups by", "limit", "suppressed", "people per carrier",
            "a random member", "best insider, everybody", "best insider, unknown before",
            "unknown to models too", "best model alone, unknown before",
            "counting in all views")  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    lines = results["insider"]["lines"]
    for line in sorted(lines, key=lambda one: (one["table"], one["r"])):
        setting = (line["table"], f"{line['r']:g}", percent(1 / line["r"]), line["method"],
                   line["limit"])  # fmt: skip
        if "failed" in line:
            rows.append((*setting, line["failed"], *[""] * (len(head) - len(setting) - 1)))
            continue
        found = {one["attacker"]: one for one in line["attackers"]}
        best = [_best(line, whom) for whom in ("everybody", "unknown", "unforeseen")]
        rows.append(
            (
                *setting,
                f"{line['suppressed']:,} of {line['carriers']:,}",
                f"{line['people_per_carrier']:.1f}",
                percent(found["a random member"]["everybody"]["rate"]),
                *(rate(one) for one in best),
                rate(_best(line, "unknown", "modeller")),
                rate(found["counting in all views at once"]["everybody"]),
            )
        )
    return table(head, rows)


def named(results: dict[str, Any]) -> str:
    """The same for Adult in brief: how often a carrier is named."""
    head = ("r", "limit", "1/r", "insider, blind groups", "carriers not known beforehand",
            "not known to models either", "insider, the paper's own variant", "insider, Anatomy",
            "counting in all views, blind groups")  # fmt: skip
    lines = {
        (line["r"], line["method"]): line
        for line in results["insider"]["lines"]
        if line["table"] == "Adult" and "failed" not in line
    }
    rows = []
    for r, method in sorted(lines):
        if method == "ART":
            line = lines[r, method]
            found = {one["attacker"]: one["everybody"] for one in line["attackers"]}
            rows.append(
                (
                    f"{r:g}",
                    line["limit"],
                    percent(1 / r),
                    rate(_best(line, "everybody")),
                    rate(_best(line, "unknown")),
                    rate(_best(line, "unforeseen")),
                    *(
                        rate(_best(lines[r, one], "everybody")) if (r, one) in lines else "-"
                        for one in ("ART, Theorem 1", "Anatomy")
                    ),
                    rate(found["counting in all views at once"]),
                )
            )
    return table(head, rows)


def _best(line: dict[str, Any], whom: str, kind: str = "insider") -> dict[str, float]:
    """The rate of the attacker of a kind who is right most."""
    rates = [one[whom] for one in line["attackers"] if one["kind"] == kind]
    return max(rates, key=lambda rate: float(rate["rate"]))


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
