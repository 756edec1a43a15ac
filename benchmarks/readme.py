"""Writes the tables of README.md and the docs, between marker comments, from results/.

    python -m benchmarks.readme [--check]

A block starts with `<!-- bench:NAME -->` and ends with `<!-- /bench -->`; NAME is one of those in
tables.py. `--check` changes nothing and fails when a table is not current.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.chain_tables import chains
from benchmarks.tables import BLOCKS
from benchmarks.worst_tables import runs

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "latest.json"
PAGES = (
    "README.md",
    "docs/howto/audit-an-arx-release.md",
    "docs/benchmarks.md",
    "docs/howto/models-as-knowledge.md",
    "docs/howto/several-columns.md",
    "docs/howto/large-tables.md",
    "docs/howto/workbench.md",
)
BLOCK = re.compile(r"(<!-- bench:(\w+) -->\n).*?(<!-- /bench -->)", re.DOTALL)


def kept() -> dict[str, Any]:
    """All that was measured."""
    return {**json.loads(RESULTS.read_text("utf-8")), "worst_case": runs(), "chains": chains()}


def fill(text: str, results: dict[str, Any]) -> str:
    """The text with every block made anew."""

    def block(found: re.Match[str]) -> str:
        name = found[2]
        if name not in BLOCKS:
            raise SystemExit(f"There is no table bench:{name}; known: {', '.join(BLOCKS)}.")
        return f"{found[1]}\n{BLOCKS[name](results)}\n{found[3]}"

    return BLOCK.sub(block, text)


def main(arguments: Sequence[str]) -> int:
    """Fills the pages, or with --check says which are not current."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readme")
    parser.add_argument("--check", action="store_true", help="change nothing, fail if not current")
    asked = parser.parse_args(arguments)
    results = kept()
    stale = 0
    for name in PAGES:
        page = ROOT / name
        if not page.is_file():
            continue
        old = page.read_text("utf-8")
        new = fill(old, results)
        if new == old:
            continue
        stale += 1
        print(f"{name} {'is not current' if asked.check else 'written'}")
        if not asked.check:
            page.write_text(new, "utf-8")
    return 1 if asked.check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
