"""Models that a release was judged with: their distributions travel in the private folder.

Their SHA-256 stands in the certificate. So that nobody can try out on it what they think of the
table, each file holds a salt, drawn from the secret seed.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data.sources import read_table
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Knowledge, View
from shoal.plain import plain

SALT = "salt"


def model_files(table: Table, knowledge: Knowledge, *, seed: int) -> dict[str, bytes]:
    """The distributions of every model among the views, as Parquet files by name: a line for each
    signature of the table, in order, and a column for each published value."""
    files = {}
    for number, view in enumerate(_models(knowledge)):
        lines = view.distributions[view.index]
        frame = pl.DataFrame(dict(zip(table.values, lines.T, strict=True)))
        salt = hashlib.sha256(f"model {number} {seed}".encode()).hexdigest()
        written = io.BytesIO()
        frame.write_parquet(written, metadata={SALT: salt})
        files[f"model-{number + 1}.parquet"] = written.getvalue()
    return files


def describe_models(knowledge: Knowledge, files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """What the certificate says of each."""
    return [
        {
            **plain(fitted.public()),
            "view": view.name,
            "file": name,
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for view, fitted, (name, content) in zip(
            _models(knowledge), knowledge.models, files.items(), strict=True
        )
    ]


def _models(knowledge: Knowledge) -> list[View]:
    return [view for view in knowledge.views if view.fitted is not None]


def read_model(private: Path, described: Mapping[str, Any], table: Table) -> Knowledge | str:
    """The view of a model that a certificate describes, from the private folder; or what is wrong
    with its file."""
    name = str(described["file"])
    path = private / Path(name).name
    if not path.is_file():
        return f"{name} is missing from the private folder"
    if hashlib.sha256(path.read_bytes()).hexdigest() != described["sha256"]:
        return f"the SHA-256 of {name} differs"
    frame = read_table(path)
    if tuple(frame.columns) != table.values:
        return f"{name} speaks of other values"
    try:
        return Knowledge.model(table, str(described["view"]), frame.to_numpy())
    except InputError as error:
        return error.problem
