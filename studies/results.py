"""Results: a tidy table of all cells, as CSV that says how it was made, and as Parquet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError
from studies.study import Study

CSV, PARQUET = "results.csv", "results.parquet"


@dataclass(frozen=True, eq=False)
class Results:
    """All lines of a run, and what is to be known about it."""

    lines: pl.DataFrame
    about: dict[str, Any]
    """command, machine, rows, and the studies' titles and labels."""

    def of(self, study: str) -> pl.DataFrame:
        return self.lines.filter(pl.col("study") == study)

    def averaged(self, study: str) -> list[dict[str, Any]]:
        """One record per value and method, averaged over seeds, of the measures that it has."""
        lines = self.of(study)
        numbers = [
            name
            for name, kind in lines.schema.items()
            if (kind.is_numeric() or kind == pl.Boolean)
            and name not in ("value", "seed")
            and lines[name].null_count() < lines.height
        ]
        return (
            lines.group_by("value", "method", maintain_order=True)
            .agg(pl.col(numbers).mean())
            .to_dicts()
        )

    def save(self, folder: Path) -> None:
        """results.csv (with the command in its head) and results.parquet."""
        folder.mkdir(parents=True, exist_ok=True)
        self.save_csv(folder / CSV)
        self.lines.write_parquet(folder / PARQUET)

    def save_csv(self, path: Path) -> None:
        head = "".join(
            f"# {key}: {json.dumps(value, ensure_ascii=False)}\n"
            for key, value in self.about.items()
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + self.lines.write_csv(float_precision=6), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Results:
        """From a folder of a run, or from its CSV file."""
        file = path / CSV if path.is_dir() else path
        if not file.is_file():
            raise InputError(
                "study",
                f'There are no results at "{path}".',
                f"Name the folder of a run, or its {CSV}.",
            )
        about: dict[str, Any] = {}
        for text in file.read_text(encoding="utf-8").splitlines():
            if not text.startswith("# "):
                break
            key, _, value = text[2:].partition(": ")
            about[key] = json.loads(value)
        if "studies" not in about:
            raise InputError(
                "study",
                f'"{file}" does not say which studies it holds.',
                "Name results that `python -m studies` wrote.",
            )
        lines = pl.read_csv(file, comment_prefix="#", infer_schema_length=None)
        return cls(lines, about)


def collect(
    lines: Sequence[Mapping[str, Any]],
    studies: Sequence[Study],
    *,
    command: str,
    machine: Mapping[str, str],
) -> Results:
    """Lines of a run as a table, with the studies that they belong to."""
    shown = {
        study.name: {
            "title": study.title,
            "label": study.label or study.factor,
            "log": study.log,
            "measures": list(study.measures),
        }
        for study in studies
    }
    frame = pl.DataFrame([dict(line) for line in lines], infer_schema_length=None)
    return Results(frame, {"command": command, "machine": dict(machine), "studies": shown})
