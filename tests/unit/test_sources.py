"""Reading every kind of source, and writing so that nothing half done is ever seen."""

from __future__ import annotations

import gzip
import io
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from datetime import datetime
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.datasets import hospital
from shoal.errors import InputError
from shoal.sources import (
    delimited,
    read_table,
    recover_folder,
    redact,
    refuse_overlap,
    replace_file,
    replace_folder,
    write_table,
)
from shoal.sources import replace as replace_module
from shoal.sources.bare import bare

PEOPLE = pl.DataFrame(
    {
        "age": [30, None, 41],
        "zip": ["00123", "12345", None],
        "income": [1.5, 2e-7, 1e16],
        "note": ['say "hi", twice', "line\nbreak", "?"],
    }
)


def fails_with(code: str, *parts: str) -> pytest.RaisesExc[InputError]:
    """Expects an InputError of that code whose text holds every part."""
    return pytest.RaisesExc(
        InputError,
        check=lambda error: error.code == code and all(part in str(error) for part in parts),
    )


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def hidden(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name.startswith(".")]


# --- Text --------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.csv.gz"])
def test_the_separator_is_found(tmp_path: Path, separator: str, name: str) -> None:
    text = "a,b,c\n1,x,2.5\n2,y,\n".replace(",", separator)
    data = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
    frame = read_table(write(tmp_path / name, data))
    assert frame.to_dict(as_series=False) == {"a": [1, 2], "b": ["x", "y"], "c": [2.5, None]}
    assert frame.schema == {"a": pl.Int64, "b": pl.String, "c": pl.Float64}


def test_separators_inside_cells_do_not_mislead(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'name;note\nA;"x;y"\nB;one, two, three\nC;four, five, six\n')
    assert read_table(path).columns == ["name", "note"]
    assert read_table(path)["note"].to_list() == ["x;y", "one, two, three", "four, five, six"]


def test_types_belong_to_whole_columns(tmp_path: Path) -> None:
    rows = [f"{i},{i},{i:05d},+{i},{i}{'0' * 18},{i}.5,?" for i in range(1, 3000)]
    text = "id,mixed,zip,phone,account,score,unknown\n" + "\n".join(rows) + "\n3000,x,1,+1,1,2,3\n"
    frame = read_table(write(tmp_path / "t.csv", text))
    assert [frame.schema[name] for name in ("id", "score")] == [pl.Int64, pl.Float64]
    for name in ("mixed", "zip", "phone", "account", "unknown"):
        assert frame.schema[name] == pl.String, name
    assert frame["zip"][0] == "00001"
    assert frame["mixed"].to_list()[-2:] == ["2999", "x"]
    assert frame["account"][0] == "1" + "0" * 18


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["0", "-1", "7"], [0, -1, 7]),
        ([" 39", "40 "], [39, 40]),
        (["0.5", ".5", "-1."], [0.5, 0.5, -1.0]),
        (["1e-7", "1E+16"], [1e-7, 1e16]),
        (["007", "8"], None),
        (["-007", "8"], None),
        (["nan", "1"], None),
        (["1e999", "1"], None),
        (["1,5", "2,5"], None),
        (["9223372036854775808", "1"], None),
        (["9007199254740993", "0.5"], None),
        (["12-5", "3"], None),
        (["."], None),
    ],
)
def test_what_counts_as_a_number(
    tmp_path: Path, cells: list[str], numbers: list[float] | None
) -> None:
    text = "n;m\n" + "".join(f"{cell};x\n" for cell in cells)
    assert read_table(write(tmp_path / "t.csv", text))["n"].to_list() == (numbers or cells)


def test_cells_as_they_are_written(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a,b\n1.50,\n 2,x\n")
    expected = {"a": ["1.50", " 2"], "b": [None, "x"]}
    assert read_table(path, as_text=True).to_dict(as_series=False) == expected


def test_byte_order_mark_line_ends_and_encodings(tmp_path: Path) -> None:
    expected = {"name": ["Zoë"], "n": [1]}
    text = "name,n\r\nZoë,1\r\n"
    for number, (encoding, given_encoding) in enumerate(
        [("utf-8-sig", None), ("utf-8", None), ("latin-1", "latin-1"), ("utf-16", "utf-16")]
    ):
        path = write(tmp_path / f"{number}.csv", text.encode(encoding))
        assert read_table(path, encoding=given_encoding).to_dict(as_series=False) == expected
    old_mac = write(tmp_path / "mac.csv", "name,n\rZoë,1\r".encode())
    assert read_table(old_mac).to_dict(as_series=False) == expected


def test_unnamed_columns_get_a_name_and_one_column_keeps_its_gaps(tmp_path: Path) -> None:
    index = write(tmp_path / "index.csv", ",age\n0,30\n1,40\n")
    assert read_table(index).columns == ["column_1", "age"]
    assert read_table(write(tmp_path / "one.csv", "a\n1\n\n3\n"))["a"].to_list() == [1, None, 3]
    assert read_table(write(tmp_path / "bare.csv", "a,b")).shape == (0, 2)


def test_cells_longer_than_a_block_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "BLOCK", 1 << 12)
    for length in (10_000, 1_000_000):
        path = write(tmp_path / "t.csv", "a,b\n" + "x" * length + ",1\ny,2\n")
        frame = read_table(path)
        assert (len(frame["a"][0]), frame["b"].to_list()) == (length, [1, 2])


def test_a_ragged_row_is_found_in_a_file_of_many_blocks(tmp_path: Path) -> None:
    rows = ["1,2," + "x" * 1000] * 40_000
    rows[30_000] = "1,2"
    path = write(tmp_path / "t.csv", "a,b,c\n" + "\n".join(rows) + "\n")
    with fails_with("csv-ragged", "Row 30002 of", "of length 2,", "of length 3."):
        read_table(path)


def test_columns_can_be_chosen_in_every_kind(tmp_path: Path) -> None:
    for name in ("t.csv", "t.parquet", "t.arrow"):
        write_table(PEOPLE, tmp_path / name)
        frame = read_table(tmp_path / name, columns=["zip", "age"])
        assert frame.equals(PEOPLE.select("zip", "age")), name
        assert read_table(tmp_path / name, columns="zip").columns == ["zip"], name
        with fails_with("column-missing", '"agee"', '"age"'):
            read_table(tmp_path / name, columns=["agee"])


def test_options_without_meaning_are_refused(tmp_path: Path) -> None:
    write_table(PEOPLE, tmp_path / "t.parquet")
    write_table(PEOPLE, tmp_path / "t.csv")
    for option in ({"separator": ","}, {"encoding": "utf-8"}, {"unguard": True}, {"as_text": True}):
        with fails_with("option-unused", next(iter(option)), "text files"):
            read_table(tmp_path / "t.parquet", **option)
    with fails_with("option-unused", "sheet", "Excel"):
        read_table(tmp_path / "t.csv", sheet="x")


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
    with fails_with("folder-columns"):
        read_table(hive)
    write_table(PEOPLE, hive / "loose.parquet")
    with fails_with("folder-partitions"):
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
    with fails_with("excel-sheets", "2 sheets", "First, Second"):
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
    ("package", "source", "extra"),
    [
        ("fastexcel", "t.xlsx", "excel"),
        ("duckdb", "duckdb:///t.db?table=t", "duckdb"),
        ("adbc_driver_postgresql", "postgresql://h/db?table=t", "postgres"),
    ],
)
def test_a_driver_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, source: str, extra: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.xlsx", "x")
    monkeypatch.setitem(sys.modules, package, None)
    with fails_with("extra-missing", f'pip install "shoal[{extra}]"'):
        read_table(source)


def test_decimals_become_plain_numbers(tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": ["1", None], "x": ["1.25", "2"]}).cast(
        {"n": pl.Decimal(38, 0), "x": pl.Decimal(10, 2)}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet")
    assert read.schema == {"n": pl.Int64, "x": pl.Float64}
    assert read.to_dict(as_series=False) == {"n": [1, None], "x": [1.25, 2.0]}


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
    with fails_with("database-error", "read-only"):
        read_table(f"duckdb:///{database}?query=drop table people")
    assert database.read_bytes() == before
    with fails_with("database-table", '"beds"', '"ward.beds"', "Tables: odd"):
        read_table(f"duckdb:///{database}?table=beds")
    with fails_with("database-error", "nothing"):
        read_table(f"duckdb:///{database}?query=select nothing from people")
    with fails_with("header-twice", '"a"'):
        read_table(f"duckdb:///{database}?query=select 1 as a, 2 as a")
    with fails_with("database-no-rows"):
        read_table(f"duckdb:///{database}?query=;")
    for nothing in ("query= ", "table=", "table=people&query=select 1", ""):
        with fails_with("url-table"):
            read_table(f"duckdb:///{database}?{nothing}")


# --- Secrets -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("people.csv", "people.csv"),
        ("/home/a@b/people.csv", "/home/a@b/people.csv"),
        ("postgresql://ann:TOP@h/db?table=t", "postgresql://h/db?table=t"),
        ("postgresql://ann@h:5432/db?table=t", "postgresql://h:5432/db?table=t"),
        ("postgresql://ann:T@OP@h/db?table=t", "postgresql://h/db?table=t"),
        ("postgresql://ann:T/OP@h/db?table=t", "postgresql://h/db?table=t"),
        ("postgresql://ann:T?OP@h/db?table=t", "postgresql://h/db?table=t"),
        ("postgresql://ann:TOP", "postgresql://(not shown)"),
        ("postgresql://h/db?password=TOP&table=t", "postgresql://h/db?table=t"),
        ("postgres://h/db?query=select 'a@b', 'TOP'", "postgres://h/db?query=(not shown)"),
        ("postgresql://ann:TOP@[::1]:5/db?table=t", "postgresql://[::1]:5/db?table=t"),
        ("mysql://ann:TOP@h/db", "mysql://h/db"),
        ("postgresql:/ann:TOP@h/db", "postgresql:***@h/db"),
        ("host=h password=TOP dbname=d", "host=h password=*** dbname=d"),
        ("duckdb:////a@b/c.db?table=t", "duckdb:////a@b/c.db?table=t"),
    ],
)
def test_redacted_sources(source: str, shown: str) -> None:
    assert redact(source) == shown


@given(st.text(st.characters(codec="ascii", min_codepoint=33), min_size=3, max_size=12))
@settings(max_examples=300, deadline=None)
def test_no_password_survives_redaction_or_an_error(word: str) -> None:
    secret = f"<{word}>"  # a text that does not occur in messages by itself
    for source in (
        f"postgresql://ann:{secret}@h/db?table=t",
        f"postgresql://h/db?table=t&password={secret}",
        f"postgresql://ann:{secret}@h:5432/db",
    ):
        assert secret not in redact(source)
        with pytest.raises(InputError) as error:
            read_table(source)
        assert secret not in str(error.value)


# --- Formulas ----------------------------------------------------------------------------


def test_formulas_are_guarded_and_numbers_are_not(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    texts = ["=1+1", "+49", "-x", "@a", "\tq", "\rq", "'=1", "plain", "'quoted'", "a=b", ""]
    frame = pl.DataFrame({"=head": texts, "n": list(range(-5, 6))})
    write_table(frame, path)
    read = read_table(path)
    assert read.columns == ["'=head", "n"]
    assert read["'=head"].to_list() == [
        *["'=1+1", "'+49", "'-x", "'@a", "'\tq", "'\rq", "''=1"],
        *["plain", "'quoted'", "a=b", None],
    ]
    assert read["n"].to_list() == list(range(-5, 6))
    undone = read_table(path, unguard=True)
    assert undone.columns == ["=head", "n"]
    assert undone["=head"].to_list() == [*texts[:-1], None]


@given(st.lists(st.text(st.sampled_from("=+-@\t\r'ab1,\"\n"), min_size=1, max_size=6), min_size=1))
@settings(max_examples=200, deadline=None)
def test_guarding_loses_nothing(texts: list[str]) -> None:
    from shoal.sources.guard import guarded, unguarded

    frame = pl.DataFrame({"t": texts})
    safe = guarded(frame)
    assert not safe["t"].str.contains("^[=+@\t\r-]").any()
    assert unguarded(safe).equals(frame)


# --- Values that are no longer shown -----------------------------------------------------


def hiding() -> pl.DataFrame:
    """Ten people, of whom only number 3 is shown; the others are masked, or mere categories."""
    names = [f"secret-person-number-{i}" for i in range(10)]
    frame = pl.DataFrame({"i": range(10), "name": names, "code": [10**15 + i for i in range(10)]})
    third = pl.col("i") == 3
    masked = frame.select(
        pl.when(third).then("name").alias("name"), pl.when(third).then("code").alias("code")
    )
    listed = masked["name"].cast(pl.Enum(names)).alias("listed")
    return masked.with_columns(listed, listed.cast(pl.Categorical).alias("category"))


def hidden_in(data: bytes) -> int:
    texts = [f"secret-person-number-{i}".encode() for i in range(10) if i != 3]
    numbers = [(10**15 + i).to_bytes(8, "little") for i in range(10) if i != 3]
    return sum(data.count(value) for value in texts + numbers)


def unpacked(frame: pl.DataFrame) -> bytes:
    parquet, arrow = io.BytesIO(), io.BytesIO()
    frame.write_parquet(parquet, compression="uncompressed")
    frame.write_ipc(arrow, compression="uncompressed")
    return parquet.getvalue() + arrow.getvalue()


def test_masked_values_do_not_reach_a_file(tmp_path: Path) -> None:
    frame = hiding()
    assert hidden_in(unpacked(frame)) > 9  # what a plain writer would give away
    assert hidden_in(unpacked(bare(frame))) == 0
    assert bare(frame).equals(frame.with_columns(pl.col("listed", "category").cast(pl.String)))
    write_table(frame, tmp_path / "t.arrow")
    with pa.ipc.open_file(tmp_path / "t.arrow") as file:
        table = file.read_all()
    buffers = [b for column in table.columns for chunk in column.chunks for b in chunk.buffers()]
    assert hidden_in(b"".join(b.to_pybytes() for b in buffers if b is not None)) == 0
    write_table(frame, tmp_path / "t.parquet")
    column = pq.read_table(tmp_path / "t.parquet", read_dictionary=["name"]).column("name").chunk(0)
    assert column.dictionary.to_pylist() == ["secret-person-number-3"]


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


# --- Writing whole or not at all ---------------------------------------------------------


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(PEOPLE, path)
    before = path.read_bytes()
    with fails_with("output-type", '"nested"', "List(Int64)"):
        write_table(pl.DataFrame({"nested": [[1]]}), path)

    def stopped(stop: type[BaseException]) -> None:
        with replace_file(path) as new:
            new.write_text("half")
            raise stop

    for stop in (KeyboardInterrupt, ValueError):
        with pytest.raises(stop):
            stopped(stop)
    assert path.read_bytes() == before
    assert hidden(tmp_path) == []


def test_the_rights_of_a_replaced_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(PEOPLE, path)
    path.chmod(0o600)
    write_table(PEOPLE, path)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_a_full_disk_leaves_nothing(tmp_path: Path, name: str) -> None:
    script = """
        import resource, sys
        from shoal.datasets import hospital
        from shoal.errors import InputError
        from shoal.sources import write_table
        frame = hospital(20_000, 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            write_table(frame, sys.argv[1])
        except InputError as error:
            print(error.code, error)
    """
    done = run(script, tmp_path / name)
    assert done.stdout.startswith("output-failed"), done
    assert "File too large" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_really_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        write_table(PEOPLE, disk / "t.csv")
        before = (disk / "t.csv").read_bytes()
        for name in ("t.csv", "t.parquet"):
            with fails_with("output-failed", "No space left on device"):
                write_table(hospital(50_000, 1), disk / name)
        with fails_with("output-failed", "No space left"), replace_folder(disk / "out") as new:
            (new / "a").write_bytes(b"x" * 200_000)
        assert (disk / "t.csv").read_bytes() == before
        assert [entry.name for entry in disk.iterdir()] == ["t.csv"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_folders_appear_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with replace_folder(target) as new:
        (new / "sub").mkdir()
        (new / "sub" / "a.txt").write_text("1")
        assert not target.exists()
    assert (target / "sub" / "a.txt").read_text() == "1"
    with fails_with("output-exists", '"' + str(target) + '"'), replace_folder(target):
        raise AssertionError("not reached")

    def stopped(stop: type[BaseException]) -> None:
        with replace_folder(target, force=True) as new:
            (new / "a.txt").write_text("half")
            raise stop

    for stop in (KeyboardInterrupt, ValueError):
        with pytest.raises(stop):
            stopped(stop)
    assert [file.name for file in target.iterdir()] == ["sub"]
    with replace_folder(target, force=True) as new:
        (new / "b.txt").write_text("2")
    assert [file.name for file in target.iterdir()] == ["b.txt"]
    assert hidden(tmp_path) == []


def test_force_does_not_cost_a_foreign_or_a_precious_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "photos"
    target.mkdir()
    with replace_folder(target, force=True, marker="certificate.json") as new:
        (new / "holiday.jpg").write_text("")
    with (
        fails_with("output-foreign", "certificate.json"),
        replace_folder(target, force=True, marker="certificate.json"),
    ):
        raise AssertionError("not reached")
    (target / "deep").mkdir()
    monkeypatch.chdir(target / "deep")
    for precious in (".", "..", target):
        with fails_with("output-precious"), replace_folder(precious, force=True):
            raise AssertionError("not reached")
    assert (target / "holiday.jpg").exists()


def test_the_way_without_an_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replace_module, "_exchange", lambda one, other: False)
    target = tmp_path / "out"
    for text in ("1", "2"):
        with replace_folder(target, force=True) as new:
            (new / "a").write_text(text)
        assert (target / "a").read_text() == text
    assert hidden(tmp_path) == []
    target.rename(tmp_path / ".out.shoal-old-0")  # a kill between the two renames
    recover_folder(target)
    assert (target / "a").read_text() == "2"


def test_leftovers_go_unless_somebody_is_writing_them(tmp_path: Path) -> None:
    target = tmp_path / "out"
    (tmp_path / ".out.shoal-new-0").mkdir()
    write(tmp_path / ".out.shoal-new-0" / "a", "half")
    write(tmp_path / ".t.csv.shoal-new-0", "half")
    write_table(PEOPLE, tmp_path / "t.csv")
    assert hidden(tmp_path) == [".out.shoal-new-0"]
    (tmp_path / ".other.shoal-new-0").mkdir()
    with replace_folder(target) as one:
        (one / "a").write_text("one")
        with replace_folder(target) as two:
            (two / "a").write_text("two")
        assert one.exists()
        (one / "b").write_text("one")
        target.rename(tmp_path / "second")
    assert (target / "a").read_text() == "one"
    assert sorted(hidden(tmp_path)) == [".other.shoal-new-0"]


REPLACING = """
    import sys
    from pathlib import Path
    from shoal.sources import replace, replace_folder
    if sys.argv[2] == "renames":
        replace._exchange = lambda one, other: False
    print("ready", flush=True)
    for turn in range(1, 10_000):
        with replace_folder(sys.argv[1], force=True) as new:
            for name in range(5):
                (new / f"{name}.txt").write_text(str(turn) * 2000)
        print(turn, flush=True)
"""


@pytest.mark.parametrize("way", ["exchange", "renames"])
def test_a_kill_at_any_moment_leaves_the_old_or_the_new(tmp_path: Path, way: str) -> None:
    chance = random.Random(1)
    for attempt in range(8):
        fresh = attempt % 4 == 0
        target = tmp_path / f"out-{attempt // 4}"
        with start(REPLACING, target, way) as process:
            assert process.stdout is not None
            for _ in range(1 if fresh else 2):
                process.stdout.readline()
            time.sleep(chance.random() * 0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
        recover_folder(target)
        if target.exists() or not fresh:
            texts = {file.read_text() for file in target.iterdir()}
            assert (len(texts), len(list(target.iterdir()))) == (1, 5), attempt
    for number in range(2):
        with replace_folder(tmp_path / f"out-{number}", force=True) as new:
            (new / "last").write_text("")
    assert hidden(tmp_path) == []


def test_outputs_and_inputs_do_not_lie_in_one_another(tmp_path: Path) -> None:
    data = write(tmp_path / "data.csv", "a\n1\n")
    with fails_with("output-input", "is the input itself"):
        refuse_overlap(tmp_path / "sub" / ".." / "data.csv", data)
    with fails_with("output-input", "lies inside the input"):
        refuse_overlap(tmp_path / "out.csv", tmp_path)
    with fails_with("output-input", "lies inside the output"):
        refuse_overlap(tmp_path, data)
    with fails_with("output-input", "is the input itself"):
        refuse_overlap(data, f"duckdb:///{data}?table=t")
    refuse_overlap(tmp_path / "out.csv", data)
    refuse_overlap(Path.cwd(), "postgresql://ann@h/db?table=t")


def test_outputs_that_cannot_be(tmp_path: Path) -> None:
    with fails_with("output-parent", "nowhere"):
        write_table(PEOPLE, tmp_path / "nowhere" / "t.csv")
    with fails_with("output-parent", "nowhere"), replace_folder(tmp_path / "nowhere" / "out"):
        raise AssertionError("not reached")
    (tmp_path / "t.csv").mkdir()
    with fails_with("output-folder", "t.csv"):
        write_table(PEOPLE, tmp_path / "t.csv")
    with fails_with("output-file"), replace_folder(write(tmp_path / "file", "x"), force=True):
        raise AssertionError("not reached")
    with fails_with("file-kind", ".csv"):
        write_table(PEOPLE, tmp_path / "t.xyz")
    with fails_with("output-excel", ".csv"):
        write_table(PEOPLE, tmp_path / "t.xlsx")


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
