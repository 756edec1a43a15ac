"""Delimited text: separators, encodings, and which columns hold numbers."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from shoal.data.sources import delimited, read_table, write_table
from tests.data.sources.expect import fails_with
from tests.data.sources.files import PEOPLE, write


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
        (["1,5", "2,5"], [1.5, 2.5]),
        (["9223372036854775808", "1"], None),
        (["9007199254740993", "0.5"], None),
        (["0.12345678901234567890", "0.12345678901234567891"], None),
        (["0.1", "0.10000000000000000001"], None),
        (["0.30000000000000004", "0.3", "0.30000000000000004"], [0.1 + 0.2, 0.3, 0.1 + 0.2]),
        (["0.10000000000000001", "1e-300"], [0.1, 1e-300]),
        (["0.3000000000000000000", ".3", "0.30"], [0.3] * 3),
        (["-2.0000000000000000000", "-2", "2."], [-2.0, -2.0, 2.0]),
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
    with fails_with("csv-rows", "Row 30002 of", "of length 2,", "of length 3."):
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
    with fails_with("option-unused", "sheet", "workbooks"):
        read_table(tmp_path / "t.csv", sheet="x")
