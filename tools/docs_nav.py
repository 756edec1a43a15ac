"""MkDocs hook: pages that another command makes join the navigation once they exist."""

from __future__ import annotations

from pathlib import Path
from typing import Any

MADE_ELSEWHERE = (("Results", "results.md"),)


def on_config(config: Any) -> Any:
    """Called by MkDocs before it builds."""
    for title, page in MADE_ELSEWHERE:
        if (Path(config["docs_dir"]) / page).is_file():
            config["nav"].append({title: page})
    return config
