"""The table of the page for authorities: what evidence answers of each clause."""

from __future__ import annotations

from pathlib import Path

from shoal.workbench.evidence.clauses import CLAUSES, COMPUTED, Clause
from shoal.workbench.project.context import TITLES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "authorities.md"
START, END = "<!-- made:clauses -->\n", "<!-- /made -->"
HEAD = "| standard | clause | about | stated | computed |\n| --- | --- | --- | --- | --- |\n"


def authorities_page() -> str:
    """docs/authorities.md, its table of clauses made anew."""
    before, _, rest = PAGE.read_text("utf-8").partition(START)
    return f"{before}{START}{HEAD}{''.join(map(_line, CLAUSES))}{END}{rest.partition(END)[2]}"


def _line(one: Clause) -> str:
    stated = ", ".join(TITLES[name].lower() for name in one.stated)
    computed = ", ".join(COMPUTED[name] for name in one.computed)
    return f"| {one.standard} | {one.number} | {one.about} | {stated} | {computed} |\n"
