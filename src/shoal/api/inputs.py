"""What the verbs take: a frame, a path or URL, or a Table; and the spec that goes with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from shoal.data.sources import read_codebook, read_table
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.data.table.alike import warn_of_lookalikes
from shoal.engines import Engine, default_engine, engine_of
from shoal.errors import InputError
from shoal.groups import Progress, silent
from shoal.knowledge import Knowledge
from shoal.names import Reading
from shoal.planning.propose.naming import refuse_keys, warn_of_naming

Known = Knowledge | str | Path | None
"""What the adversary knows: a Knowledge, the path of a file from outside, or what the spec says."""


def table_of(
    data: Any,
    spec: Spec | None = None,
    *,
    knowledge: Known = None,
    engine: Engine | None = None,
    keep: bool = True,
    publish: bool = False,
    progress: Progress = silent,
) -> Table:
    """The data as a Table, counted by the engine if it is none; `keep` its frame for whoever codes
    it again. Of a table to `publish` no QI may be a key.

    A file of outside knowledge becomes part of the table's spec, so that certificates speak of it.
    """
    asked = spec_of(data, spec, knowledge=knowledge, engine=engine)
    if isinstance(data, Table):
        table = data if data.spec == asked else replace(data, spec=asked)
    else:
        holds = engine or engine_of(data) or default_engine()
        table = holds.count(data, asked, progress=progress)
        table = table if keep else replace(table, native=None)
    if publish:
        refuse_keys(table)
    warn_of_naming(table)
    warn_of_lookalikes(table)
    return table


def spec_of(
    data: Any, spec: Spec | None, *, knowledge: Known = None, engine: Engine | None = None
) -> Spec:
    """The spec given, with what the table's file says beside it, or the Table's own; they must not
    differ. The engine says how files are read."""
    if isinstance(data, Table):
        if spec is not None and not (isinstance(spec, Spec) and data.answers(spec)):
            raise InputError(
                "spec-other",
                "The table was coded with another spec than the one given.",
                "Give the table's own spec, or the frame it was made from.",
            )
        spec = data.spec
    if not isinstance(spec, Spec):
        raise InputError(
            "spec-needed",
            "A frame or a file says nothing of what is to be protected."
            if spec is None
            else f"A {type(spec).__name__} is no spec.",
            "Give a shoal.Spec too, such as Spec.from_toml(path).",
        )
    spec = described(spec, data, **getattr(engine, "reading", {}))
    return spec.with_(knowledge=knowledge) if isinstance(knowledge, str | Path) else spec


def described(spec: Spec, data: Any, **reading: Unpack[Reading]) -> Spec:
    """The spec with what the table's file says of columns beside it."""
    published = (*spec.qi, *spec.sensitive_columns)
    return spec.described(read_codebook(data, published, **reading))


def frame_of(data: Any) -> Any:
    """The data as a frame: read if it is a path or URL; what a Table was made from."""
    if isinstance(data, Table):
        return data.frame
    return read_table(data) if is_location(data) else data


def is_location(data: Any) -> bool:
    """Whether the data is a path or a URL."""
    return isinstance(data, str | Path)
