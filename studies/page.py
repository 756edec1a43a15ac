"""The results page: what the paper claims, what was measured, where they part and why.

Written from the numbers of a run, figures and table beside it; nothing in it is typed by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studies.claims import Curves, paper_claims, shown_seconds
from studies.figures import draw
from studies.results import Results

ALT = "{title}: four panels, one line per method; the numbers are in the table of results"


def write_page(results: Results, path: Path) -> list[Path]:
    """Writes the page, its figures (figures/) and its numbers (results/); returns the files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figures = draw(results, path.parent / "figures")
    table = path.parent / "results" / "paper.csv"
    results.save_csv(table)
    path.write_text(page_text(results), encoding="utf-8")
    return [path, table, *figures]


def page_text(results: Results) -> str:
    """The page as Markdown."""
    about, studies = results.about, results.about["studies"]
    parts = [
        "# Results",
        f"Made by what is now `{about['command'].replace('shoal experiment', 'python -m studies')}`"
        "; the numbers are in "
        "[results/paper.csv](results/paper.csv), whose first lines name command and machine. "
        "This page is written from them by `python -m studies page`.",
        _setting(results),
        "## The paper's claims, and what we measured",
        _claims(results),
    ]
    for name in ("qi-size", "r", "qd", "s"):
        if name in studies:
            parts += [_figure(name, studies[name]), _table(results, name)]
    parts += ["## Where we part from the paper, and why"]
    if "adversaries" in studies:
        parts += [_adversaries(results), _figure("adversaries", studies["adversaries"])]
    if "min-support" in studies:
        parts += [_support(results), _figure("min-support", studies["min-support"])]
    for name in studies:
        if name not in ("qi-size", "r", "qd", "s", "adversaries", "min-support"):
            parts += [_figure(name, studies[name]), _table(results, name)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _setting(results: Results) -> str:
    machine = results.about["machine"]
    lines = results.lines
    seeds, queries = lines["seed"].n_unique(), max(lines["queries"].to_list())
    versions = ", ".join(
        f"{name} {value}" for name, value in machine.items() if name not in ("system", "processor")
    )
    return (
        f"Queries per cell: {queries:,}; runs per cell: {seeds} (the paper: "
        f"100). Machine: {machine['processor']}, {machine['system']}, {versions}. Seconds are of "
        "the method alone, without reading, compiling and judging. ART is run with the paper's "
        "limit, 1/r for everybody, and without a limit on suppression, so that a hard setting "
        "shows as suppressed tuples; `shoal anonymize` would stop there with a diagnosis."
    )


def _claims(results: Results) -> str:
    findings = paper_claims(results)
    if not findings:
        return ""
    rows = [[f.claim, f.measured, f"**{f.verdict}**"] for f in findings]
    return _markdown(["The paper says", "We measured", ""], rows)


def _figure(name: str, shown: dict[str, Any]) -> str:
    return f"### {shown['title']}\n\n![{ALT.format(title=shown['title'])}](figures/{name}.svg)"


def _table(results: Results, name: str) -> str:
    """Errors on all queries and on the event, and problematic shares, per method and value."""
    curves, label = Curves(results, name), results.about["studies"][name]["label"]
    methods = list(dict.fromkeys(record["method"] for record in curves.records))
    values = sorted({record["value"] for record in curves.records})
    blocks = []
    for title, measure, form in (
        ("Relative error, all queries", "relative_error", "{:.3g}"),
        ("Relative error, queries about the event", "relative_error_protected", "{:.3g}"),
        ("Problematic share", "problematic_share", "{:.1%}"),
        ("Worst posterior", "worst_posterior", "{:.3f}"),
        ("Suppressed share of sensitive tuples", "suppressed_share", "{:.1%}"),
    ):
        rows = []
        for method in methods:
            curve = curves.of(method, measure)
            rows.append([method, *(_shown(curve.get(value), form) for value in values)])
        blocks.append(_markdown([title, *(f"{value:g}" for value in values)], rows))
    heading = f"<details markdown><summary>Numbers, by {label}</summary>"
    return "\n\n".join([heading, *blocks, _reasons(results, name), "</details>"])


def _reasons(results: Results, name: str) -> str:
    """Why cells are empty, in the methods' own words."""
    lines, said = results.of(name), []
    for column in ("failed", "unjudged"):
        if column not in lines.columns:
            continue
        for line in (
            lines.drop_nulls(column).unique(["method", column], maintain_order=True).to_dicts()
        ):
            said.append(f"- {line['method']}, {line['factor']} {line['value']:g}: {line[column]}")
    return "\n".join(said)


def _adversaries(results: Results) -> str:
    curves = Curves(results, "adversaries")
    columns = (
        ("joint: problematic", "problematic_share", "{:.1%}"),
        ("joint: worst", "worst_posterior", "{:.3f}"),
        ("binary: problematic", "binary_problematic_share", "{:.1%}"),
        ("binary: worst", "binary_worst_posterior", "{:.3f}"),
        ("counting: cases in strata that fail", "counter_share", "{:.1%}"),
        ("suppressed", "suppressed_share", "{:.1%}"),
    )
    rows = [
        [
            record["method"],
            f"{record['value']:g}",
            f"{1 / record['value']:.3g}",
            *(_shown(record.get(measure), form) for _, measure, form in columns),
        ]
        for record in curves.records
    ]

    def problematic(method: str) -> tuple[str, str]:
        shares = (
            curves.of(method, f"{reader}problematic_share").values() for reader in ("", "binary_")
        )
        joint, binary = (_span(some) for some in shares)
        return joint, binary

    (joint, binary), mine = problematic("ART, Theorem 1"), problematic("ART")
    text = (
        "**Theorem 1 does not hold against the paper's own adversary.** Equations 1 to 3 weigh a "
        "possible world by the probability of every value in it (the joint adversary); the proof "
        "of Theorem 1 treats the other values as one (the binary adversary). A search that meets "
        f"the theorem in every view leaves {binary} of its sensitive tuples problematic to the "
        f"binary adversary, and {joint} to the joint one. The two reason differently, and neither "
        "contains the other. ART answers both: of the tuples that it publishes "
        f"{mine[0]} are problematic to the joint adversary, {mine[1]} to the binary one. "
        "Counting knows how many cases each stratum has, and how many of its people are in groups "
        "that hold the event."
    )
    names = ["Method", "r", "1/r", *(name for name, _, _ in columns)]
    return f"### Two adversaries, side by side\n\n{text}\n\n{_markdown(names, rows)}"


def _support(results: Results) -> str:
    curves = Curves(results, "min-support")
    rows = [
        [
            record["method"],
            f"{record['value']:g}",
            _shown(record.get("with_event"), "{:,.0f}"),
            _shown(record.get("coverage_bound"), "{:,.0f}"),
            _published(record),
            _shown(record.get("relative_error"), "{:.3g}"),
            _shown(record.get("problematic_share"), "{:.1%}"),
            _shown(record.get("guess_rate"), "{:.1%}"),
            "-" if record.get("seconds") is None else shown_seconds(record["seconds"]),
        ]
        for record in curves.records
    ]
    lost = curves.of("ART", "suppressed_share")
    low, high = min(lost), max(lost)
    text = (
        '**"Large samples" is undefined in the paper, and decides the outcome.** It takes the '
        'knowledge from all attribute sets "containing large samples" and never says what large '
        "is. We say: a combination of values counts when at least min_support rows have it. From "
        f"min_support {low:g} to {high:g} the share of sensitive tuples that ART suppresses "
        f"goes from {lost[low]:.1%} to {lost[high]:.1%}. The yardstick is a linear "
        "program: with one sensitive tuple per group, no more can be protected from the binary "
        "adversary. Against the joint adversary, and for groups of several sensitive tuples, it is "
        "not a proven bound."
    )
    names = [
        "Method",
        "min_support",
        "sensitive tuples",
        "linear program",
        "published",
        "relative error",
        "problematic",
        "guess rate",
        "seconds",
    ]
    return f"### What a large sample is\n\n{text}\n\n{_markdown(names, rows)}"


def _published(record: dict[str, Any]) -> str:
    if record.get("with_event") is None:
        return "-"
    return f"{record['with_event'] - record['suppressed_with_event']:,.0f}"


def _span(shares: Any) -> str:
    values = sorted(shares)
    low, high = values[0], values[-1]
    return f"{high:.1%}" if f"{low:.1%}" == f"{high:.1%}" else f"{low:.1%} to {high:.1%}"


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _markdown(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(names), line(["---"] * len(names)), *(line(row) for row in rows)])
