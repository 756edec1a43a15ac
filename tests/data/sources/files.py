"""A small table, and what tests of sources do with files."""

from __future__ import annotations

from pathlib import Path

import polars as pl

PEOPLE = pl.DataFrame(
    {
        "age": [30, None, 41],
        "zip": ["00123", "12345", None],
        "income": [1.5, 2e-7, 1e16],
        "note": ['say "hi", twice', "line\nbreak", "?"],
    }
)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def hidden(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name.startswith(".")]
