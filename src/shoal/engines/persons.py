"""One row per person of rows that are read some after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from shoal.data.sources.streamed import Rows
from shoal.data.spec import ROWS_OF_PERSON, Spec
from shoal.data.table.persons import Persons, by_person, choose, needed
from shoal.data.table.table import check_roles, protected_rows
from shoal.errors import InputError

Read = Callable[[Sequence[str]], Iterator[pl.DataFrame]]


def rows_by_person(rows: Rows, spec: Spec) -> tuple[Rows, Persons | None]:
    """What the spec's rule leaves of rows. The columns that it goes by are read as a whole."""
    check_roles(rows.names, spec)
    if spec.person is None:
        return rows, None
    given = pl.concat(rows.frames(needed(spec)))
    found = rows.finished(given)
    persons, counts, source = choose(found, spec, lambda: protected_rows(found, spec))
    refuse_several(persons, spec)
    assert persons.kept is not None
    kept, changed = persons.kept, list[pl.Series]()
    if source is not None:
        changed = given.select(spec.sensitive_columns)[source].get_columns()
    if ROWS_OF_PERSON in spec.qi and ROWS_OF_PERSON not in rows.names:
        counted = pl.Series(ROWS_OF_PERSON, counts, pl.Int64)
        # Cells of text files stay text until their types are found.
        changed.append(counted.cast(pl.String) if rows.text else counted)
    others = pl.DataFrame(changed)

    def left(read: Read) -> Read:
        def frames(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
            own = [name for name in columns if name not in others.columns]
            start = 0
            for frame in read(own or needed(spec)[:1]):
                some = slice(*np.searchsorted(kept, [start, start + frame.height]))
                part = frame[kept[some] - start].with_columns(others[some])
                start += frame.height
                yield part.select(columns)

        return frames

    schema = pl.Schema({**rows.schema, **others.schema})
    return (
        replace(
            rows,
            schema=schema,
            frames=left(rows.frames),
            coded_frames=left(rows.coded_frames),
            files=[],
        ),
        persons,
    )


def frame_by_person(frame: pl.DataFrame, spec: Spec) -> tuple[pl.DataFrame, Persons | None]:
    """A frame of rows to be counted as one line per person, and what is known of these."""
    check_roles(frame.columns, spec)
    left, persons = by_person(frame, spec, lambda: protected_rows(frame, spec))
    if persons is not None:
        refuse_several(persons, spec)
    return left, persons


def refuse_several(persons: Persons, spec: Spec) -> None:
    """An InputError for several rows of a person, which counts do not tell apart."""
    if persons.of_row is not None:
        raise InputError(
            "person-several",
            f"{len(persons.of_row):,} rows are of {persons.count:,} people, and rows that are "
            "counted in parts do not show whose are whose.",
            'Take one row per person, as with rows_per_person = "event".',
        )
