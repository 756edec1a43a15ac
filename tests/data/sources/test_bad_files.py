"""Twenty things that are wrong with people's input, and the exact words that shoal has for them."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl
import pytest

from shoal.data.sources import read_table, write_table
from shoal.data.spec import Spec
from shoal.data.storage import refuse_overlap
from shoal.data.table import Table
from shoal.data.table.hierarchy import Hierarchy
from shoal.errors import InputError

ANYBODY = pl.DataFrame({"age": [30, 40, 50], "illness": ["flu", "flu", "cold"]})


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, data: str | bytes) -> str:
    Path(name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return name


@contextmanager
def says(message: str) -> Iterator[None]:
    """Expects an InputError of exactly these words."""
    with pytest.raises(InputError) as caught:
        yield
    assert str(caught.value) == message


# --- Text files --------------------------------------------------------------------------


def test_wrong_separator() -> None:
    name = write("t.csv", "age;sex\n30;F\n")
    with says(
        "Split at ',', \"t.csv\" has only one column, and its header holds ';'. "
        "Give --separator ';' (in Python separator=';'), or leave it out."
    ):
        read_table(name, separator=",")
    with says("The separator is '::'. Give one sign, such as a comma, a semicolon or a tab."):
        read_table(name, separator="::")


def test_mixed_types_are_text() -> None:
    name = write("t.csv", "age,sex\n" + "30,F\n" * 5000 + "unknown,M\n")
    assert read_table(name)["age"].to_list() == ["30"] * 5000 + ["unknown"]


def test_nul_byte() -> None:
    name = write("t.csv", "age,sex\n30,F\n31,\0M\n")
    with says(
        'Line 3 of "t.csv" holds a NUL byte, so it is no text file or a damaged one. '
        "Export it again as CSV."
    ):
        read_table(name)


def test_duplicate_headers() -> None:
    name = write("t.csv", "age,sex,age\n30,F,31\n")
    with says('"t.csv" has two columns named "age". Give each column a name of its own.'):
        read_table(name)


def test_ragged_rows() -> None:
    rest = "Correct that row; a cell that holds the separator stands in quotation marks."
    with says(f'Row 3 of "t.csv" is of length 3, the header (row 1) of length 2. {rest}'):
        read_table(write("t.csv", "age,sex\n30,F\n31,M,x\n32,F\n"))
    with says(f'Row 2 of "t.csv" is of length 1, the header (row 1) of length 2. {rest}'):
        read_table(write("t.csv", "age,sex\n30\n31,M\n"))


def test_open_quotation_mark() -> None:
    name = write("t.csv", 'age,note\n30,fine\n31,"never closed\n32,x\n33,y\n')
    with says(
        'Line 3 of "t.csv" opens a quotation mark that is never closed. '
        "Close it, or double it if it belongs to the text."
    ):
        read_table(name)


def test_open_quotation_mark_in_the_header() -> None:
    with says(
        'The quotation marks in the header of "t.csv" do not match. '
        "Begin the file with one row that names its columns."
    ):
        read_table(write("t.csv", 'age,"sex\n30,F\n31,M\n'))


def test_a_cell_of_10_000_characters_is_accepted() -> None:
    frame = read_table(write("t.csv", "age,note\n30," + "x" * 10_000 + "\n"))
    assert frame.row(0) == (30, "x" * 10_000)


def test_byte_order_mark_is_accepted() -> None:
    assert read_table(write("t.csv", b"\xef\xbb\xbfage,sex\n30,F\n")).columns == ["age", "sex"]


def test_latin_1() -> None:
    name = write("t.csv", "name,age\nAnn,30\nZoë,31\n".encode("latin-1"))
    with says(
        '"t.csv" is not written in UTF-8: line 3 holds the byte 0xEB. '
        "Say what it is written in, such as --encoding latin-1, or cp1252 from Windows "
        '(in Python encoding="latin-1").'
    ):
        read_table(name)
    assert read_table(name, encoding="latin-1")["name"].to_list() == ["Ann", "Zoë"]
    with says(
        'There is no encoding "latin-one". '
        "Use utf-8, latin-1, cp1252 or another name that Python knows."
    ):
        read_table(name, encoding="latin-one")
    with says(
        'There is no encoding "hex". Use utf-8, latin-1, cp1252 or another name that Python knows.'
    ):
        read_table(name, encoding="hex")


@pytest.mark.parametrize("marked", ["utf-16", "utf-32"])
@pytest.mark.parametrize("order", ["", "-le", "-be"])
def test_wide_encodings(marked: str, order: str) -> None:
    text, encoding = "name,age\nZoë,31\n", marked + order
    mark = "\N{BYTE ORDER MARK}" if order and marked == "utf-32" else ""
    name = write("u.csv", (mark + text).encode(encoding))
    told = marked if mark else encoding
    with says(
        f'"u.csv" is written in {told.upper()}. Give --encoding {told} (in Python '
        f'encoding="{told}").'
    ):
        read_table(name)
    assert read_table(name, encoding=told).rows() == [("Zoë", 31)]


def test_two_encodings_in_one_file() -> None:
    rest = "a\n" * 600_000  # more than is decoded at a time
    for rows in ("Zoë\n", f"Zoë\n{rest}"):
        name = write("t.csv", f"name\n{rows}".encode() + "Noël\n".encode("latin-1"))
        with says(
            f'"t.csv" is not written in UTF-8: line {2 + rows.count(chr(10))} holds the byte 0xEB, '
            "and what comes before it is of UTF-8. Write all of it in one encoding, or say what it "
            "is written in, such as --encoding latin-1, or cp1252 from Windows (in Python "
            'encoding="latin-1").'
        ):
            read_table(name)


def test_a_file_of_another_kind_says_which(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2]})
    for name in ("t.parquet", "t.arrow", "t.csv.gz"):
        write_table(frame, name)
    frame.write_excel("t.xlsx")
    for name, ending in (
        ("t.parquet", ".parquet"),
        ("t.arrow", ".arrow"),
        ("t.csv.gz", ".gz"),
        ("t.xlsx", ".zip"),
    ):
        for other in ("o.csv", "o.jsonl"):
            Path(other).write_bytes(Path(name).read_bytes())
            with says(
                f'"{other}" is no text: it begins as a {ending} file does. Give it the ending '
                f"{ending}."
            ):
                read_table(other)
        assert read_table(Path(other).rename(f"o{ending}")).equals(frame)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.xlsx", "t.arrow"])
def test_empty_file(name: str) -> None:
    with says(f'"{name}" is empty. Give a table with a header row.'):
        read_table(write(name, b""))


@pytest.mark.parametrize("data", [b"\n\n\n", b"\xef\xbb\xbf", gzip.compress(b" \n", mtime=0)])
def test_file_of_nothing(data: bytes) -> None:
    name = write("t.csv.gz" if data.startswith(b"\x1f") else "t.csv", data)
    with says(f'"{name}" is empty. Give a table with a header row.'):
        read_table(name)


def test_cut_gzip() -> None:
    name = write("t.csv.gz", gzip.compress(b"age,sex\n30,F\n" * 100)[:-10])
    with says('"t.csv.gz" is no complete .gz file. Copy or compress it again.'):
        read_table(name)


# --- Files and folders -------------------------------------------------------------------


def test_directory() -> None:
    Path("tables").mkdir()
    with says(
        '"tables" is a folder without Parquet files. '
        "Give a file, or a folder that holds .parquet files."
    ):
        read_table("tables")


def test_no_permission() -> None:
    name = write("t.csv", "age,sex\n30,F\n")
    Path(name).chmod(0)
    with (
        says(
            '"t.csv" may not be read by this user. '
            "Change its permissions, or run as a user who may read it."
        ),
        without_privileges(),
    ):
        read_table(name)
    Path("closed").mkdir(mode=0o700)
    write("closed/t.csv", "age,sex\n30,F\n")
    Path("closed").chmod(0)
    try:
        with pytest.raises(InputError, match="may not be read"), without_privileges():
            read_table("closed/t.csv")
    finally:
        Path("closed").chmod(0o700)


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root may read anything, so it steps down to an ordinary user for a while."""
    if os.geteuid():
        yield
        return
    Path().chmod(0o711)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_missing_file() -> None:
    write_table(ANYBODY, "people.csv")
    with says('There is no file "poeple.csv" (did you mean "people.csv"?). Check the path.'):
        read_table("poeple.csv")
    with says('There is no file "xyz.csv". Check the path.'):
        read_table("xyz.csv")
    with says('There is no file "nowhere/people.csv". Check the path.'):
        read_table("nowhere/people.csv")


def test_unknown_ending() -> None:
    with says(
        'The name "people.dat" has no ending that is known. '
        "Known endings: .csv, .tsv, .txt, .parquet, .pq, .arrow, .ipc, .feather, .jsonl, .ndjson, "
        ".xlsx, .dta, .sav, .zsav, .sas7bdat, .xpt, .zip, .gz and .zst."
    ):
        read_table(write("people.dat", "age\n30\n"))


def test_truncated_parquet() -> None:
    write_table(ANYBODY, "t.parquet")
    data = Path("t.parquet").read_bytes()
    rest = "it is damaged, cut short or something else. Copy or export it again."
    for damaged in (data[:-20], data[:20] + b"\xff" * 40 + data[60:], b"age,sex\n30,F\n"):
        with says(f'"t.parquet" cannot be read as Parquet: {rest}'):
            read_table(write("t.parquet", damaged))
    Path("folder").mkdir()
    Path("folder/1.parquet").write_bytes(data)
    Path("folder/2.parquet").write_bytes(data[:-20])
    with says(f'"folder/2.parquet" cannot be read as Parquet: {rest}'):
        read_table("folder")


def test_truncated_arrow_and_excel() -> None:
    write_table(ANYBODY, "t.arrow")
    data = Path("t.arrow").read_bytes()
    rest = "it is damaged, cut short or something else. Copy or export it again."
    with says(f'"t.arrow" cannot be read as Arrow: {rest}'):
        read_table(write("t.arrow", data[:-30]))
    with says(f'"t.xlsx" cannot be read as Excel (.xlsx): {rest}'):
        read_table(write("t.xlsx", b"PK\x03\x04 not a workbook"))
    ANYBODY.write_ipc_stream("s.arrow")
    with says(
        '"s.arrow" is no Arrow file: it is a stream, damaged, or something else. '
        "Write it again in the Arrow IPC file format."
    ):
        read_table("s.arrow")


# --- Databases (wrong passwords are in test_postgres.py) ---------------------------------


def test_missing_table() -> None:
    with duckdb.connect("clinic.db") as connection:
        connection.sql("create table patients as select 1 as age")
    with says('The database has no table "patient" (did you mean "patients"?). Tables: patients.'):
        read_table("duckdb:///clinic.db?table=patient")
    with says('There is no file "clinik.db" (did you mean "clinic.db"?). Check the path.'):
        read_table("duckdb:///clinik.db?table=patients")


def test_password_in_an_address() -> None:
    for address in ("ann:swordfish@h/db?table=t", "ann@h/db?password=swordfish&table=t"):
        with says(
            "The PostgreSQL address holds a password. "
            "Take it out, and set PGPASSWORD or use ~/.pgpass."
        ):
            read_table(f"postgresql://{address}")


def test_unfinished_addresses() -> None:
    with says(
        "postgresql://h/db does not say what to read. "
        "End it in ?table=NAME, or in ?query=SELECT ..., not both."
    ):
        read_table("postgresql://ann@h/db")
    with says(
        'shoal does not read "postgresq://" addresses (did you mean "postgresql"?). Give a file, '
        "duckdb:///file?table=..., postgresql://user@host/database?table=..., or an address with "
        "https://, s3://, gs://, az://."
    ):
        read_table("postgresq://ann@h/db?table=t")
    with says(
        "The PostgreSQL address does not name a host, a port and a database. "
        "Write postgresql://user@host:5432/database?table=..."
    ):
        read_table("postgresql://ann@h:x/db?table=t")
    with says(
        "duckdb:///a.db?table=t has an option that is not passed on to the database. "
        "Possible are table, query."
    ):
        read_table("duckdb:///a.db?table=t&mode=fast")


# --- Specs, tables, hierarchies, outputs -------------------------------------------------


def test_typo_in_toml() -> None:
    name = write("s.toml", 'qi = ["age"]\nsensitiv = "illness"\nr = 2\n')
    with pytest.raises(InputError) as caught:
        Spec.from_toml(name)
    assert caught.value.problem == (
        's.toml has an unknown key "sensitiv" (did you mean "sensitive"?).'
    )


def test_r_as_text() -> None:
    with says("r is 'ten', which is no number. Give a number above 1."):
        Spec.from_toml(write("s.toml", 'qi = ["age"]\nsensitive = "illness"\nr = "ten"\n'))


def test_event_that_never_occurs() -> None:
    spec = Spec(qi=["age"], sensitive="illness", protect=[["flue"]], r=2)  # type: ignore[arg-type]
    with says(
        'The protected value "flue" never occurs in "illness" (did you mean "flu"?). '
        "Protect values that occur in the table."
    ):
        Table.from_frame(ANYBODY, spec)


def test_more_than_20_qis() -> None:
    with says(
        "21 QI columns are named, and shoal judges at most 20. "
        "Keep those that an outsider can really know of a person."
    ):
        Spec(qi=tuple(f"q{i}" for i in range(21)), sensitive="illness", r=2)


def test_all_rows_identical() -> None:
    same = pl.DataFrame({"age": [30] * 5, "illness": ["flu"] * 5})
    with says(
        'The sensitive column "illness" has one value, "flu": everybody is known to have it. '
        "Choose a column that differs between people."
    ):
        Table.from_frame(same, Spec(qi=("age",), sensitive="illness", r=2))


def test_hierarchy_with_a_hole() -> None:
    name = write("age.csv", "30,young,*\n40,,*\n")
    with says(
        'The hierarchy of "age": the rows of "40" have gaps or another number of levels than 3. '
        "Give every value a label at every level; repeat a label where nothing changes."
    ):
        Hierarchy.from_csv(name)


def test_output_inside_the_input() -> None:
    Path("tables").mkdir()
    with says('The output "tables/out" lies inside the input "tables". Write to another place.'):
        refuse_overlap("tables/out", "tables")
