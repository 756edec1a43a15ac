"""Keeps a report's facts in a file among the private records, and reads them back."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

from shoal.auditing.findings import Findings
from shoal.data.storage import replace_file
from shoal.errors import InputError
from shoal.memory import read_text
from shoal.plain import plain
from shoal.release.facts.contents import FORMAT, Facts

FACTS_FILE = "report.json"


def keep_facts(facts: Facts, folder: str | Path) -> Path:
    """Writes the facts into a private folder; they name the most exposed rows."""
    path = Path(folder) / FACTS_FILE
    with replace_file(path) as new:
        new.write_text(json.dumps(plain(facts), ensure_ascii=False), encoding="utf-8")
    return path


def load_facts(folder: str | Path) -> Facts:
    """The facts that a private folder keeps, or an InputError."""
    path = Path(folder) / FACTS_FILE
    if not path.is_file():
        raise InputError(
            "report-facts",
            f'"{folder}" holds no {FACTS_FILE}.',
            "Name the private folder that was written with the release.",
        )
    try:
        told = json.loads(read_text(path))
        known = {field.name for field in fields(Facts)}
        if told["format"] != FORMAT or set(told) != known:
            raise ValueError
        return Facts(**{**told, "verdict": Findings.of(told["verdict"])})
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            "report-facts",
            f"{path} is no report that this version of shoal can read.",
            "Make the report again from the table.",
        ) from None
