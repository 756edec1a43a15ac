"""Small files of a project: JSON in and out, moved into place whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shoal.data.storage import replace_file


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_text(path: Path, text: str) -> None:
    """Puts a text in a file's place, whole or not at all."""
    with replace_file(path) as new:
        new.write_text(text, encoding="utf-8")


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Puts plain data in a file's place; what JSON has no form for is written as text."""
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False, default=str) + "\n")


def read_json(path: Path) -> dict[str, Any] | None:
    """What a file holds; None if there is none, or it holds no JSON object."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def read_lines(path: Path) -> list[str]:
    """The lines of a text; none if there is no such file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
