"""Writes the pages of docs that are made from the source; --check fails where one is stale."""

from __future__ import annotations

import sys
from pathlib import Path

from shoal.release.stated import schema_text
from tools.authorities import authorities_page
from tools.certificate import certificate_page
from tools.formats import formats_page
from tools.fuzzed import fuzzed_page
from tools.pages import MADE, cli_page, errors_page

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = {
    "authorities.md": authorities_page,
    "errors.md": errors_page,
    "fuzzing.md": lambda: fuzzed_page(MADE),
    "reference/cli.md": cli_page,
    "reference/formats.md": lambda: formats_page(MADE),
    "reference/certificate.md": lambda: certificate_page(MADE),
    "reference/certificate.schema.json": schema_text,
}


def main(*, check: bool) -> int:
    """0 if all is well."""
    stale = 0
    for name, make in PAGES.items():
        page, text = DOCS / name, make()
        if page.is_file() and page.read_text("utf-8") == text:
            continue
        stale += 1
        print(f"docs/{name} {'is not current: run python -m tools' if check else 'written'}")
        if not check:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, "utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
