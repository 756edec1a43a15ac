"""Identifiers that repeat are refused by every engine of one machine, in the same words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.data.sources import write_table
from shoal.data.spec import Spec
from shoal.engines import Engine
from shoal.engines.duckdb import DuckDBEngine
from shoal.engines.polars import PolarsEngine
from shoal.errors import InputError

ENGINES: dict[str, Callable[[], Engine]] = {
    "whole": PolarsEngine,
    "streamed": lambda: PolarsEngine(large=0),
    "duckdb": DuckDBEngine,
}
NAN = float("nan")
SPEC = Spec(qi=["sex"], sensitive="illness", protect=["HIV"], r=2, identifiers=["who, is"])
WHO = {
    "numbers": ([1, 2, 3, None, None, 6], [1, 2, 3, None, None, 3]),
    "texts": (["a", "b", "", None, "", "c"], ["a", "b", "", None, "", "a"]),
    "measures": ([1.5, NAN, NAN, None, 2.5, 3.5], [1.5, NAN, NAN, None, 2.5, 1.5]),
}


def people(who: list[object]) -> pl.DataFrame:
    sex, illness = ["f", "m"] * 3, ["HIV", "flu", "cold"] * 2
    return pl.DataFrame({"who, is": who, "sex": sex, "illness": illness})


def refusal(who: list[object]) -> str:
    named = [one for one in who if one not in (None, "") and one == one]
    return f"{len(named)} rows have one of {len(set(named))} values"


@pytest.mark.parametrize("kind", ["numbers", "texts", "measures"])
@pytest.mark.parametrize("file", ["people.parquet", "people.csv", "people.xlsx"])
@pytest.mark.parametrize("engine", ENGINES)
def test_files(engine: str, file: str, kind: str, tmp_path: Path) -> None:
    apart, repeating = (people(list(one)) for one in WHO[kind])
    if not file.endswith("parquet"):  # files without a word for it
        apart, repeating = (one.fill_nan(None) for one in (apart, repeating))
    held = ENGINES[engine]()
    _write(apart, tmp_path / file)
    assert held.count(tmp_path / file, SPEC).rows == 6
    assert held.counted(tmp_path / file, SPEC).count.sum() == 6
    _write(repeating, tmp_path / file)
    for ask in (held.count, held.counted):
        with pytest.raises(InputError, match=refusal(list(WHO[kind][1]))) as caught:
            ask(tmp_path / file, SPEC)
        assert caught.value.code == "identifier-repeats"
    assert held.count(tmp_path / file, SPEC.with_(identifiers=())).rows == 6


def _write(frame: pl.DataFrame, file: Path) -> None:
    if file.suffix == ".xlsx":
        frame.write_excel(file)
    else:
        write_table(frame, file)


@pytest.mark.parametrize("kind", ["numbers", "texts", "measures"])
@pytest.mark.parametrize("engine", ["whole", "duckdb"])
def test_databases(engine: str, kind: str, tmp_path: Path) -> None:
    import duckdb

    apart, repeating = (people(list(one)) for one in WHO[kind])
    with duckdb.connect(tmp_path / "people.duckdb") as connection:
        for name, frame in (("apart", apart), ("repeating", repeating)):
            connection.register("given", frame.to_arrow())
            connection.sql(f"create table {name} as select * from given")
    held, url = ENGINES[engine](), f"duckdb:///{tmp_path}/people.duckdb"
    assert held.count(f"{url}?table=apart", SPEC).rows == 6
    with pytest.raises(InputError, match=refusal(list(WHO[kind][1]))):
        held.count(f"{url}?table=repeating", SPEC)


@pytest.mark.parametrize("verb", [shoal.anonymize, shoal.plan, shoal.count])
def test_every_verb_that_takes_a_table_refuses(verb: Callable[..., object]) -> None:
    with pytest.raises(InputError, match="6 rows have one of 3 values"):
        verb(people([1, 2, 3, 1, 2, 3]), SPEC)


def test_an_audit_refuses() -> None:
    with pytest.raises(InputError, match="6 rows have one of 3 values"):
        shoal.audit(people([1, 2, 3, 1, 2, 3]), SPEC, groups=[0, 0, 0, 1, 1, 1])
