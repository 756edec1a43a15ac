"""What another tool released, joined with the table by a key and judged as counts: one test body on
every engine that joins."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.api.released import align, align_large
from shoal.auditing.align import Aligned
from shoal.auditing.audit import audit
from shoal.data.sources import write_table
from shoal.data.spec import Spec
from shoal.engines import Joining, engine_named
from shoal.errors import InputError
from tests.engines.kinds import HOSTILE, all_kinds, hospital, some_kinds

Make = Callable[..., Joining]
QI = ("text with. dots", "part", "day, of", "moment", "price", "truth")


@pytest.fixture(params=["duckdb", "spark"])
def make(request: pytest.FixtureRequest) -> Make:
    """Makes the engine."""
    if request.param == "spark":
        request.getfixturevalue("spark")

    def made(**text: str) -> Joining:
        engine = engine_named(request.param, **text)
        assert isinstance(engine, Joining)
        return engine

    return made


def released_of(frame: pl.DataFrame, seed: int, sensitive: str, value: str) -> pl.DataFrame:
    """Another order, some rows missing, and in some releases other sensitive values."""
    random = np.random.default_rng(seed)
    kept = frame.filter(pl.Series(random.random(frame.height) < 0.95))
    kept = kept.sample(fraction=1, shuffle=True, seed=seed)
    if not seed % 2:
        return kept
    changed = pl.Series(random.random(kept.height) < 0.05)
    other = pl.when(changed).then(pl.lit(value)).otherwise(sensitive)
    return kept.with_columns(other.alias(sensitive))


def written(tmp_path: Path, kind: str, seed: int) -> tuple[Path, Path]:
    """A hospital, and a release of it with ages in bands."""
    frame, _ = hospital(3_000)
    released = released_of(frame, seed, "diagnosis", "Asthma")
    return files_of(tmp_path, kind, frame, released.with_columns(pl.col("age") // 10 * 10))


def files_of(
    tmp_path: Path, kind: str, frame: pl.DataFrame, released: pl.DataFrame
) -> tuple[Path, Path]:
    files = tmp_path / f"table.{kind}", tmp_path / f"released.{kind}"
    write_table(frame, files[0])
    write_table(released, files[1])
    return files


def by_rows(table: Path, released: Path, spec: Spec, key: str) -> Aligned:
    return align(shoal.read_table(table), shoal.read_table(released), spec, key=key)


def figures(one: Aligned, *, ties: bool = False) -> dict[str, Any]:
    """An audit, but for who is named of equally exposed people, which takes rows; with `ties`, they
    may be of any group."""
    found = audit(one.table, one.grouping, rows=one.rows).to_dict()
    del found["worst"]
    for event, witness in found["worst_by_event"].items():
        del witness["row"], witness["person"]
        if ties:
            found["worst_by_event"][event] = witness["posterior"]
    return found


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("seed", [0, 1])
def test_counted_pairs_are_judged_as_rows_are(
    make: Make, tmp_path: Path, kind: str, seed: int
) -> None:
    table, released = written(tmp_path, kind, seed)
    _, spec = hospital(10)
    rows = by_rows(table, released, spec, "patient")
    pairs = align_large(table, released, spec, key="patient", engine=make())
    assert pairs.rows is None
    assert figures(pairs) == figures(rows)
    assert pairs.grouping.values_changed == rows.grouping.values_changed
    assert bool(rows.grouping.values_changed) == bool(seed % 2)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("seed", [2, 3])
def test_values_of_every_kind_are_joined_as_they_are(
    make: Make, tmp_path: Path, kind: str, seed: int
) -> None:
    """With missing values, dates, decimals and hostile texts, some of which are not released."""
    frame, spec = all_kinds(1200), some_kinds(*QI)
    hidden = pl.Series(np.random.default_rng(seed).random(1200) < 0.3)
    shown = frame.with_columns(
        pl.when(hidden).then(None).otherwise(pl.col(name)).alias(name) for name in QI[:3]
    )
    table, released = files_of(tmp_path, kind, frame, released_of(shown, seed, "rows", "cold"))
    rows = by_rows(table, released, spec, "who")
    pairs = align_large(table, released, spec, key="who", engine=make())
    for mine, other in zip(rows.table.qi, pairs.table.qi, strict=True):
        assert other.labels == mine.labels, mine.name
    assert figures(pairs, ties=True) == figures(rows, ties=True)
    assert pairs.grouping.values_changed == rows.grouping.values_changed


HOUR = datetime(2024, 11, 3, 5, 30, tzinfo=UTC)
"""01:30 in New York, for the first time."""
KEYS: dict[str, list[Any]] = {
    "text": [f"{HOSTILE[number % len(HOSTILE)]}{number}" for number in range(40)],
    "date": [date(1500, 1, 1) + timedelta(number) for number in range(40)],
    "moment": [HOUR + timedelta(hours=number) for number in range(40)],
    "price": [Decimal(number).scaleb(-2) for number in range(40)],
    "missing": [None, *range(39)],
}


@pytest.mark.parametrize("kind", list(KEYS))
def test_keys_are_of_any_kind(make: Make, tmp_path: Path, kind: str) -> None:
    frame = pl.DataFrame(
        {"key": KEYS[kind], "q": list("ab") * 20, "s": ["yes", *["no"] * 19] * 2}, strict=False
    )
    table, released = files_of(tmp_path, "parquet", frame, frame.slice(1).reverse())
    spec = Spec(qi=["q"], sensitive="s", protect=["yes"], r=2)
    pairs = align_large(table, released, spec, key="key", engine=make())
    assert figures(pairs) == figures(by_rows(table, released, spec, "key"))
    assert pairs.grouping.people.sum() == 39


@pytest.mark.parametrize(
    ("table", "released", "code", "words"),
    [
        ([1, 2, 3], [2, 2], "key-twice", "repeats in the release"),
        ([1, 2, 2], [2], "key-twice", "repeats in the table"),
        ([None, 2, None], [2], "key-twice", "repeats in the table"),
        ([1, 2, 3], [7], "key-stray", 'the key "7"'),
        ([None, 2, 3], [None], "key-stray", 'the key "None"'),
        ([1, 2, 3], [], "released-empty", "release has no rows"),
    ],
)
def test_keys_must_tell_people_apart(
    make: Make, tmp_path: Path, table: list[Any], released: list[Any], code: str, words: str
) -> None:
    def lines(keys: list[Any]) -> pl.DataFrame:
        return pl.DataFrame({"key": pl.Series(keys, dtype=pl.Int64)}).with_columns(
            q=pl.lit("a"), s=pl.lit("yes")
        )

    files = files_of(tmp_path, "parquet", lines(table), lines(released))
    spec = Spec(qi=["q"], sensitive="s", protect=["yes"], r=2)
    engine = make()
    for refused in (
        lambda: align_large(*files, spec, key="key", engine=engine),
        lambda: by_rows(*files, spec, "key"),
    ):
        with pytest.raises(InputError, match=words) as raised:
            refused()
        assert raised.value.code == code


def test_keys_must_be_there_and_columns_too(make: Make, tmp_path: Path) -> None:
    table, released = written(tmp_path, "parquet", 0)
    _, spec = hospital(10)
    engine = make()
    with pytest.raises(InputError, match='table has no key column "who"'):
        align_large(table, released, spec, key="who", engine=engine)
    with pytest.raises(InputError, match="by a key"):
        align_large(table, released, spec, key=None, engine=engine)
    for qi, code in (("nothing", "column-missing"), ("city", "released-column")):
        write_table(shoal.read_table(table).with_columns(city=pl.lit("x")), table)
        with pytest.raises(InputError) as raised:
            align_large(table, released, spec.with_(qi=[qi]), key="patient", engine=engine)
        assert raised.value.code == code


def test_columns_may_have_the_names_that_counting_uses(make: Make, tmp_path: Path) -> None:
    table, released = written(tmp_path, "parquet", 0)
    names = {"sex": "people", "region": "(people)", "age": "there", "diagnosis": "who"}
    spec = shoal.Spec(
        qi=["people", "(people)", "there"],
        sensitive="who",
        protect=[["HIV", "Schizophrenia"]],
        r=5,
    )
    for file in (table, released):
        write_table(shoal.read_table(file).rename(names), file)
    pairs = align_large(table, released, spec, key="patient", engine=make())
    rows = by_rows(table, released, spec, "patient")
    assert pairs.grouping.people.sum() == rows.grouping.people.sum()


def test_separator_and_encoding_hold_for_both_files(make: Make, tmp_path: Path) -> None:
    table, released = tmp_path / "table.csv", tmp_path / "released.csv"
    lines = ["who|ort|ill", *(f"{one}|{'Köln' if one % 2 else 'Bonn'}|no" for one in range(20))]
    lines.append("20|Köln|yes")
    for file in (table, released):
        file.write_text("\n".join(lines) + "\n", encoding="latin-1")
    spec = shoal.Spec(qi=["ort"], sensitive="ill", protect=["yes"], r=2)
    engine = make(separator="|", encoding="latin-1")
    found = align_large(table, released, spec, key="who", engine=engine)
    assert found.table.rows == 21
    assert found.table.qi[0].labels == ("Bonn", "Köln")
    if engine.name == "duckdb":
        with pytest.raises(InputError) as raised:
            align_large(table, released, spec, key="who", engine=make(separator="|"))
        assert raised.value.code == "encoding"


def test_only_engines_that_join_audit(tmp_path: Path) -> None:
    table, released = written(tmp_path, "csv", 0)
    _, spec = hospital(10)
    polars, duckdb = engine_named("polars"), engine_named("duckdb")
    for asked in (
        {"released": released, "key": "patient", "engine": polars},
        {"groups": "region", "engine": duckdb},
    ):
        with pytest.raises(InputError) as raised:
            shoal.audit(table, spec, **asked)
        assert raised.value.code == "engine-audit"
    plain = shoal.audit(table, spec, released=released, key="patient")
    there = shoal.audit(table, spec, released=released, key="patient", engine=duckdb)
    assert there.worst is not None
    assert plain.worst is not None
    assert (there.robust, there.worst.posterior) == (plain.robust, plain.worst.posterior)


def test_a_release_of_columns_with_such_names_is_confirmed(tmp_path: Path) -> None:
    table, _ = written(tmp_path, "parquet", 0)
    names = {"sex": "people", "region": "(people)", "diagnosis": "code"}
    write_table(shoal.read_table(table).rename(names), table)
    spec = shoal.Spec(
        qi=["people", "(people)", "age"],
        sensitive="code",
        protect=[["HIV", "Schizophrenia"]],
        r=5,
    )
    folder = tmp_path / "out"
    shoal.anonymize(table, spec, seed=1).save(folder)
    assert shoal.verify(folder, table=table).confirmed
