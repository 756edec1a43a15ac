"""MkDocs hook: decisions join the navigation by their own titles."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Called by MkDocs before it builds."""
    docs = Path(config["docs_dir"])
    pages = [
        "decisions/README.md",
        *sorted(f"decisions/{one.name}" for one in docs.glob("decisions/0*.md")),
    ]
    config["nav"].append({"Decisions": [{_title(docs / page): page} for page in pages]})
    return config


def _title(page: Path) -> str:
    return page.read_text("utf-8").partition("\n")[0].removeprefix("# ")
