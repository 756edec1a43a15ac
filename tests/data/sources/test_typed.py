"""Sources that bring their types along: Parquet, Arrow, Excel, DuckDB."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pytest
import xlsxwriter

from shoal.data.sources import read_table, write_table
from tests.data.sources.expect import fails_with
from tests.data.sources.files import PEOPLE, hidden, write

# --- Typed files -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.arrow", "t.feather"]
)
def test_what_is_written_is_read_back_and_has_the_same_bytes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_table(PEOPLE, path)
    first = path.read_bytes()
    assert read_table(path).equals(PEOPLE)
    time.sleep(1.1 if name.endswith(".gz") else 0)  # gzip would note the second
    write_table(pa.table(PEOPLE.to_arrow()), path)
    assert path.read_bytes() == first
    assert hidden(tmp_path) == []


def test_folders_of_parquet_files(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    (plain / "sub").mkdir(parents=True)
    write_table(PEOPLE, plain / "sub" / "1.parquet")
    write_table(PEOPLE[:1], plain / "2.parquet")
    write(plain / "_SUCCESS", "")
    assert read_table(plain).height == 4
    hive = tmp_path / "hive"
    for code, part in (("00123", 1), ("00200", 2)):
        (hive / f"zone={code}" / f"part={part}").mkdir(parents=True)
        write_table(PEOPLE, hive / f"zone={code}" / f"part={part}" / "a.parquet")
    frame = read_table(hive)
    assert frame["zone"].to_list() == ["00123"] * 3 + ["00200"] * 3
    assert frame["part"].to_list() == [1] * 3 + [2] * 3
    assert read_table(hive, columns=["age"]).columns == ["age"]
    write_table(PEOPLE.select("age"), hive / "zone=00200" / "part=2" / "b.parquet")
    with fails_with("folder"):
        read_table(hive)
    write_table(PEOPLE, hive / "loose.parquet")
    with fails_with("folder"):
        read_table(hive)


def test_excel_keeps_text_codes_and_late_text(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("People")
        sheet.write_row(0, 0, ["age", "zip", "mixed", "score"])
        for i in range(1500):
            sheet.write_number(i + 1, 0, i)
            sheet.write_string(i + 1, 1, f"{i:05d}")
            sheet.write(i + 1, 2, i if i < 1400 else "unknown")
            sheet.write_number(i + 1, 3, i / 2)
        book.add_worksheet("Empty")
    frame = read_table(path)
    expected = {"age": pl.Int64, "zip": pl.String, "mixed": pl.String, "score": pl.Float64}
    assert frame.schema == expected
    assert frame.row(1499) == (1499, "01499", "unknown", 749.5)
    assert frame["mixed"].null_count() == 0
    assert read_table(path, sheet="People", columns=["zip"]).equals(frame.select("zip"))
    with fails_with("excel-sheet", '"Peple"', '"People"'):
        read_table(path, sheet="Peple")


def test_excel_with_several_sheets_or_a_header_twice(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("First", "Second"):
            book.add_worksheet(name).write_row(0, 0, ["age", "sex", "age"])
    with fails_with("excel-sheet", "2 sheets", "First, Second"):
        read_table(path)
    with fails_with("header-twice", '"age"'):
        read_table(path, sheet="First")
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Empty")
    with fails_with("file-empty"):
        read_table(path)


def test_excel_tables_may_begin_anywhere_and_lack_a_name(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(2, 1, ["age", None, "sex"])
        sheet.write_row(3, 1, [30, "x", "F"])
    assert read_table(path).to_dict(as_series=False) == {
        "age": [30],
        "column_2": ["x"],
        "sex": ["F"],
    }


@pytest.mark.parametrize(
    ("package", "source", "named"),
    [
        ("fastexcel", "t.xlsx", "fastexcel"),
        ("duckdb", "duckdb:///t.db?table=t", "duckdb"),
        ("adbc_driver_postgresql", "postgresql://h/db?table=t", "adbc-driver-postgresql"),
    ],
)
def test_a_driver_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, source: str, named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.xlsx", "x")
    monkeypatch.setitem(sys.modules, package, None)
    with fails_with("extra-missing", f"pip install {named}."):
        read_table(source)


def test_decimals_become_plain_numbers(tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": ["1", None], "x": ["1.25", "2"]}).cast(
        {"n": pl.Decimal(38, 0), "x": pl.Decimal(10, 2)}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet")
    assert read.schema == {"n": pl.Int64, "x": pl.Float64}
    assert read.to_dict(as_series=False) == {"n": [1, None], "x": [1.25, 2.0]}


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_every_plain_type_survives_writing(tmp_path: Path, name: str) -> None:
    day = datetime(2020, 1, 2, 3, 4, 5)
    frame = pl.DataFrame(
        {
            "date": [day.date(), None],
            "time": [None, day.time()],
            "moment": [day, None],
            "zoned": pl.Series([day, None]).dt.replace_time_zone("Europe/Vienna"),
            "span": [day - datetime(2019, 1, 1), None],
            "flag": [True, None],
            "small": pl.Series([1, None], dtype=pl.UInt8),
            "half": pl.Series([1.5, None], dtype=pl.Float32),
            "text": ["", None],
            "nothing": [None, None],
        }
    )
    write_table(frame, tmp_path / name)
    read = read_table(tmp_path / name)
    assert read.schema == frame.schema
    assert read.equals(frame)
    write_table(frame.clear(), tmp_path / name)
    assert read_table(tmp_path / name).schema == frame.schema


# --- DuckDB ------------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.db"
    with duckdb.connect(path) as connection:
        connection.sql(
            "create table people as select range as id, 30 + range as age, '00' || range as zip, "
            "range::hugeint as wide, uuid() as token from range(3)"
        )
        connection.sql('create table "odd ""name""" as select 1 as a')
        connection.sql("create schema ward")
        connection.sql("create view ward.beds as select 7 as beds")
    return path


def test_duckdb_tables_views_and_queries(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = read_table(f"duckdb:///{database}?table=people")
    assert frame.drop("token").rows() == [(0, 30, "000", 0), (1, 31, "001", 1), (2, 32, "002", 2)]
    assert frame.schema["wide"] == pl.Int64
    assert frame["token"].str.len_chars().to_list() == [36] * 3
    assert read_table(f'duckdb:///{database}?table=odd "name"').to_series().to_list() == [1]
    assert read_table(f"duckdb:///{database}?table=ward.beds").row(0) == (7,)
    query = "select age + 1 as n, 6 & 3 as bits from people where zip like '%252'"
    assert read_table(f"duckdb:///{database}?query={query}").rows() == [(33, 2)]
    monkeypatch.chdir(database.parent)
    assert read_table("duckdb:///clinic.db?table=people", columns=["age"]).shape == (3, 1)


def test_duckdb_is_only_read(database: Path) -> None:
    before = database.read_bytes()
    written = database.with_name("written")
    for query in (
        "drop table people",
        f"copy people to '{written}'",
        f"select 1 as a; copy people to '{written}'",
        f"export database '{written}'",
        f"attach '{written}' as other; select 1 as a",
    ):
        with fails_with("database-error"):
            read_table(f"duckdb:///{database}?query={query}")
    assert database.read_bytes() == before
    assert not written.exists()
    assert read_table(f"duckdb:///{database}?query=pivot people on age").height == 3
    with fails_with("database-table", '"beds"', '"ward.beds"', "Tables: odd"):
        read_table(f"duckdb:///{database}?table=beds")
    with fails_with("database-error", "nothing"):
        read_table(f"duckdb:///{database}?query=select nothing from people")
    with fails_with("header-twice", '"a"'):
        read_table(f"duckdb:///{database}?query=select 1 as a, 2 as a")
    with fails_with("database-error"):
        read_table(f"duckdb:///{database}?query=;")
    for nothing in ("query= ", "table=", "table=people&query=select 1", ""):
        with fails_with("url"):
            read_table(f"duckdb:///{database}?{nothing}")
