"""What another tool released, joined with the table by a key and judged as counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.api.released import align, align_large
from shoal.auditing.audit import audit
from shoal.errors import InputError
from shoal.sources import write_table
from tests.engines.kinds import hospital


def written(tmp_path: Path, kind: str, seed: int) -> tuple[Path, Path]:
    """A table, and a release of it: ages in bands, another order, some rows and values missing or
    changed."""
    random = np.random.default_rng(seed)
    frame, _ = hospital(3_000)
    kept = frame.filter(pl.Series(random.random(3_000) < 0.95)).sample(fraction=1, shuffle=True)
    released = kept.with_columns(pl.col("age") // 10 * 10)
    if seed % 2:
        changed = pl.Series(random.random(released.height) < 0.05)
        flu = pl.when(changed).then(pl.lit("Asthma")).otherwise("diagnosis")
        released = released.with_columns(flu.alias("diagnosis"))
    files = tmp_path / f"table.{kind}", tmp_path / f"released.{kind}"
    write_table(frame, files[0])
    write_table(released, files[1])
    return files


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("seed", range(4))
def test_counted_pairs_are_judged_as_rows_are(tmp_path: Path, kind: str, seed: int) -> None:
    table, released = written(tmp_path, kind, seed)
    _, spec = hospital(10)
    rows = align(shoal.read_table(table), shoal.read_table(released), spec, key="patient")
    pairs = align_large(table, released, spec, key="patient")
    assert pairs.rows is None
    found, expected = (
        audit(one.table, one.grouping, rows=one.rows).to_dict() for one in (pairs, rows)
    )
    for figures in (found, expected):  # without rows, another of equally exposed people is named
        del figures["worst"]
        for witness in figures["worst_by_event"].values():
            del witness["row"], witness["person"]
    assert found == expected
    assert pairs.grouping.values_changed == rows.grouping.values_changed


def test_keys_must_be_there_once_and_known(tmp_path: Path) -> None:
    table, released = written(tmp_path, "csv", 0)
    _, spec = hospital(10)
    with pytest.raises(InputError, match='no key column "who"'):
        align_large(table, released, spec, key="who")
    with pytest.raises(InputError, match="by a key"):
        align_large(table, released, spec, key=None)
    with pytest.raises(InputError, match="repeats in the table"):
        align_large(table, released, spec, key="sex")
    lines = released.read_text().splitlines()
    released.write_text("\n".join([*lines, lines[1].replace("P0", "Q0")]) + "\n")
    with pytest.raises(InputError, match='the key "Q0'):
        align_large(table, released, spec, key="patient")


def test_columns_may_have_the_names_that_counting_uses(tmp_path: Path) -> None:
    table, released = written(tmp_path, "parquet", 0)
    names = {"sex": "people", "region": "(people)", "diagnosis": "code"}
    spec = shoal.Spec(
        qi=["people", "(people)", "age"],
        sensitive="code",
        protect=[["HIV", "Schizophrenia"]],
        r=5,
    )
    for file in (table, released):
        write_table(shoal.read_table(file).rename(names), file)
    pairs = align_large(table, released, spec, key="patient")
    rows = align(shoal.read_table(table), shoal.read_table(released), spec, key="patient")
    assert pairs.grouping.people.sum() == rows.grouping.people.sum()
    folder = tmp_path / "out"
    shoal.anonymize(table, spec, seed=1).save(folder)
    assert shoal.verify(folder, table=table).confirmed


def test_separator_and_encoding_hold_for_both_files(tmp_path: Path) -> None:
    table, released = tmp_path / "table.csv", tmp_path / "released.csv"
    lines = ["who|ort|ill", *(f"{one}|{'Köln' if one % 2 else 'Bonn'}|no" for one in range(20))]
    lines.append("20|Köln|yes")
    for file in (table, released):
        file.write_text("\n".join(lines) + "\n", encoding="latin-1")
    spec = shoal.Spec(qi=["ort"], sensitive="ill", protect=["yes"], r=2)
    found = align_large(table, released, spec, key="who", separator="|", encoding="latin-1")
    assert found.table.rows == 21
    with pytest.raises(InputError) as raised:
        align_large(table, released, spec, key="who", separator="|")
    assert raised.value.code == "csv-encoding"
