"""One row per person by a rule: the same people whichever engine reads the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.engines import Engine
from shoal.engines.duckdb import DuckDBEngine
from shoal.engines.polars import PolarsEngine
from shoal.errors import InputError

ENGINES: dict[str, Callable[[], Engine]] = {
    "whole": PolarsEngine,
    "streamed": lambda: PolarsEngine(large=0),
    "duckdb": DuckDBEngine,
}
SPEC = Spec(
    qi=["age", "rows_of_person"], sensitive="ill", protect=["H"], r=2, person="who", min_support=2
)
VISITS = pl.DataFrame(
    {
        "who": ["a", "a", "b", "c", "c", "c", "d"],
        "age": [1, 2, 3, 4, 5, 6, 7],
        "day": ["2020-01-02", "2020-01-01", "2019-05-05", None, "2021-01-01", "2021-01-01", None],
        "ill": ["x", "H", "x", "x", "x", "H", "H"],
    }
)
LEFT = {
    "first": [(1, 2, "x"), (3, 1, "x"), (4, 3, "x"), (7, 1, "H")],
    "last by day": [(1, 2, "x"), (3, 1, "x"), (6, 3, "H"), (7, 1, "H")],
    "last by age": [(2, 2, "H"), (3, 1, "x"), (6, 3, "H"), (7, 1, "H")],
    # The attributes are the first row's: which row is published must not tell of the event.
    "event": [(1, 2, "H"), (3, 1, "x"), (4, 3, "H"), (7, 1, "H")],
}


def lines(table: Table) -> list[tuple[int, int, str]]:
    signature, value, rows = table.cells
    found = []
    for one, code, count in zip(signature, value, rows, strict=True):
        age, often = table.describe(int(one)).values()
        found += [(int(age), int(often), table.values[code])] * int(count)
    return sorted(found)


def visits(folder: Path, kind: str) -> Path:
    path = folder / f"visits.{kind}"
    if kind == "csv":
        VISITS.write_csv(path)
    else:
        VISITS.write_parquet(path)
    return path


@pytest.mark.parametrize("rule", LEFT)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ENGINES)
def test_rules(engine: str, kind: str, rule: str, tmp_path: Path) -> None:
    path, held, asked = visits(tmp_path, kind), ENGINES[engine](), SPEC.with_(rows_per_person=rule)
    table = held.count(path, asked)
    assert lines(table) == LEFT[rule]
    assert table.persons is not None
    assert (table.persons.given, table.persons.count, table.persons.most_rows) == (7, 4, 1)
    assert held.counted(path, asked).count.sum() == 4
    if table.source is not None:
        assert sum(len(signature) for signature, _ in table.source.coded(table)) == 4


@pytest.mark.parametrize("engine", ENGINES)
def test_several_rows_of_a_person_need_the_table_itself(engine: str, tmp_path: Path) -> None:
    path, held = visits(tmp_path, "csv"), ENGINES[engine]()
    for rule, left in (("all", 7), ("first 2", 6)):
        asked = SPEC.with_(rows_per_person=rule)
        if engine == "whole":
            table = held.count(path, asked)
            assert table.rows == left
            assert table.persons is not None
            assert np.array_equal(np.bincount(np.asarray(table.persons.of_row))[:2], [2, 1])
        with pytest.raises(InputError) as caught:
            held.counted(path, asked)
        assert caught.value.code == "person-several"


def test_cells_know_by_which_rule_they_were_counted(tmp_path: Path) -> None:
    asked, out = SPEC.with_(rows_per_person="event"), tmp_path / "cells.parquet"
    shoal.count(VISITS, asked, out)
    assert lines(PolarsEngine().count(out, asked)) == LEFT["event"]
    with pytest.raises(InputError, match='rows_per_person = "event"'):
        PolarsEngine().count(out, asked.with_(rows_per_person="first"))
    shoal.count(VISITS.with_columns(rows_of_person=1), SPEC.with_(person=None), out)
    with pytest.raises(InputError, match="without looking at whose rows"):
        PolarsEngine().count(out, asked)


def test_a_database_is_refused_where_somebody_has_several_rows(tmp_path: Path) -> None:
    import duckdb

    file = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.register("given", VISITS.to_arrow())
        connection.execute("create table visits as select * from given")
    asked = SPEC.with_(qi=["age"], rows_per_person="event")
    url = f"duckdb:///{file}?table=visits"
    with pytest.raises(InputError) as caught:
        DuckDBEngine().count(url, asked)
    assert caught.value.code == "person-counted"
    assert PolarsEngine().count(url, asked).rows == 4  # as it is advised


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"rows_per_person": "last by ill"}, "rows-per-person"),
        ({"rows_per_person": "first 0"}, "rows-per-person"),
        ({"rows_per_person": "some"}, "rows-per-person"),
        ({"rows_per_person": "first", "person": None}, "person"),
        ({"person": "age"}, "role-twice"),
        ({"person": "ill"}, "role-twice"),
        ({"identifiers": ["who"]}, "role-twice"),
        ({"person": ""}, "person"),
    ],
)
def test_a_spec_that_cannot_be_meant(change: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        SPEC.with_(**change)
    assert caught.value.code == code


def test_rows_of_nobody_and_orders_that_are_none() -> None:
    nobody = VISITS.with_columns(who=pl.when(pl.col("age") > 1).then("who"))
    with pytest.raises(InputError, match="1 of 7 rows name nobody"):
        Table.from_frame(nobody, SPEC)
    with pytest.raises(InputError, match="no number and no date"):
        Table.from_frame(
            VISITS.with_columns(code="who"), SPEC.with_(rows_per_person="last by code")
        )
    with pytest.raises(InputError, match="does not exist"):
        Table.from_frame(VISITS, SPEC.with_(person="whom"))


def test_identifiers_may_repeat_within_a_person() -> None:
    named = VISITS.with_columns(name=pl.col("who") + "!")
    asked = SPEC.with_(identifiers=["name"])
    assert Table.from_frame(named, asked).rows == 7
    assert Table.from_frame(named, asked.with_(rows_per_person="event")).rows == 4
    with pytest.raises(InputError, match='--person "name"'):
        Table.from_frame(named, asked.with_(person=None, qi=["age"]))
