"""Numbers as they are written around the world: found, or asked for, and never taken for others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.data.sources import read_table
from shoal.data.sources.numbers import typed
from shoal.data.sources.streamed import open_rows
from tests.data.sources.expect import fails_with
from tests.data.sources.files import write

FOUND: list[tuple[list[str], list[Any]]] = [
    (["1,5", "2"], [1.5, 2.0]),
    (["1.234,5", "900"], [1234.5, 900.0]),
    (["1,234.5", "900"], [1234.5, 900.0]),
    (["1,234,567", "8"], [1234567, 8]),
    (["1.234.567", "8"], [1234567, 8]),
    (["1 234,5", "900"], [1234.5, 900.0]),
    (["1\N{NO-BREAK SPACE}234", "1\N{NARROW NO-BREAK SPACE}234"], [1234, 1234]),
    (["1'234.5", "1\N{RIGHT SINGLE QUOTATION MARK}000"], [1234.5, 1000.0]),
    (["0,123", "12,345"], [0.123, 12.345]),
    (["1500", "12,345"], [1500.0, 12.345]),
    (["0.123", "12.345"], [0.123, 12.345]),
    (["1,5E+03", "-,5"], [1500.0, -0.5]),
    (["1,23,456.5", "12,34,567"], [123456.5, 1234567.0]),
    (["1.234,50 €", "12,00 €"], [1234.5, 12.0]),
    (["12,5 %", "-3 %"], [12.5, -3.0]),
    (["$1,200.00", "-$3.50"], [1200.0, -3.5]),
    (["CHF 1'200.50", "CHF\N{NO-BREAK SPACE}3"], [1200.5, 3.0]),
    (["5%", "10%"], [5, 10]),
    (["€ 5", "3,50 €", "-,5 €"], [5.0, 3.5, -0.5]),
    (["12 kg", "7.5 kg"], [12.0, 7.5]),
    (["5mg", "10 mg"], [5, 10]),
    (["120 mmHg", "80 mmHg"], [120, 80]),
    (["36,6 °C", "40 °C"], [36.6, 40.0]),
    (["3 Jahre", "40 Jahre"], [3, 40]),
    (["4 años", "2 años"], [4, 2]),
]
KEPT = [
    ["1,2,3", "2"],
    ["1.23.456", "2"],
    ["192.168.1.1", "10.0.0.1"],
    ["007,5", "1,5"],
    ["12 34", "5"],
    ["-", "1,5"],
    [",", "1,5"],
    ["9" * 400, "1"],
    ["9" * 400 + ",5", "1,5"],
    ["12345678901234567,5", "1,5"],
    ["01.03.2008", "02.03.2008"],
    ["007 €", "3"],
    ["5 €", "3 $", "free"],
    ["€ 5 %", "€ 3 %"],
    ["007 €", "008 €"],
    ["$", "$5"],
    ["5 % off", "3 % off"],
    ["12 apples", "1 pear"],
    ["12 A", "12 B"],
    ["11th", "9th"],
    ["5A", "6A"],
    ["3 to 5 kg", "6 to 8 kg"],
    ["007 kg", "008 kg"],
    ["1 person", "2 persons"],
]
UNITS = [
    ["5 %", "3 €"],
    ["12,5 %", "3"],
    ["3", "4", "12 €"],
    ["$1,200.50", "CHF 3"],
    ["12 kg", "500 g"],
    ["5 mg", "3"],
]
OPEN = [["1.234", "900"], ["1,234", "900"], ["12.345", "20.125"], ["-1,234", "5"]]


@pytest.mark.parametrize(("cells", "numbers"), FOUND)
def test_ways_to_write_numbers(cells: list[str], numbers: list[Any]) -> None:
    for order in (1, -1):
        column = typed(pl.DataFrame({"a": cells[::order]}), separator=";")["a"]
        assert column.to_list() == numbers[::order]
        assert column.dtype == (pl.Int64 if isinstance(numbers[0], int) else pl.Float64)


@pytest.mark.parametrize("cells", KEPT)
def test_what_stays_text(cells: list[str]) -> None:
    assert typed(pl.DataFrame({"a": cells}), separator=";")["a"].to_list() == cells


@pytest.mark.parametrize("cells", OPEN)
def test_what_may_be_two_numbers_is_asked_for(cells: list[str]) -> None:
    frame = pl.DataFrame({"a": cells})
    shown = next(cell for cell in cells if "," in cell or "." in cell)
    with fails_with("decimal", f'"a" holds "{shown}"', "--decimal ,"):
        typed(frame, separator=";")
    for decimal, thousands in ((",", "."), (".", ",")):
        found = typed(frame, separator=";", decimal=decimal)["a"].to_list()
        plain = [cell.replace(thousands, "").replace(decimal, ".") for cell in cells]
        assert found == [float(one) for one in plain]


@pytest.mark.parametrize("cells", UNITS)
def test_different_units_are_asked_for(cells: list[str]) -> None:
    frame = pl.DataFrame({"a": [*cells, None]})
    with fails_with("decimal", "units", f'"{cells[0]}" and "{cells[-1]}"', "stay text"):
        typed(frame, separator=";")
    for decimal in (",", "."):
        assert typed(frame, separator=";", decimal=decimal).equals(frame)


def test_another_column_tells_which_sign_is_meant() -> None:
    for other, number in (("0,5", 1234.0), ("0.5", 1.234)):
        frame = typed(pl.DataFrame({"a": ["1.234"], "b": [other]}), separator=";")
        assert frame.row(0) == (number, 0.5)


def test_commas_in_a_table_that_commas_separate_are_asked_for() -> None:
    frame = pl.DataFrame({"a": ["1,5", "2"], "b": ["0.5", "0.25"]})
    with fails_with("decimal", '"a" holds "1,5"'):
        typed(frame, separator=",")
    assert typed(frame, separator=",", decimal=".")["a"].to_list() == ["1,5", "2"]
    assert typed(frame, separator=",", decimal=",")["a"].to_list() == [1.5, 2.0]
    assert typed(frame, separator=",", decimal=",")["b"].to_list() == [0.5, 0.25]
    points = pl.DataFrame({"a": ["12.345", "900"]})  # nobody writes thousands so beside commas
    assert typed(points, separator=",")["a"].to_list() == [12.345, 900.0]


def test_numbers_in_two_ways_are_refused_unless_that_is_said_to_be_meant() -> None:
    frame = pl.DataFrame({"a": ["1,5", "1.5"]})
    with fails_with("decimal", '"a" holds numbers in two ways'):
        typed(frame, separator=";")
    assert typed(frame, separator=";", decimal=",")["a"].to_list() == ["1,5", "1.5"]
    with fails_with("decimal", "'x'"):
        typed(frame, decimal="x")


def test_pieces_have_the_types_of_the_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a;b\n1.234,5;1.000\n2;x\n")
    rows = open_rows(path)
    assert rows is not None
    pieces = rows.finished(pl.concat(rows.frames(["a", "b"])))
    assert pieces.equals(read_table(path))
    assert pieces.rows() == [(1234.5, "1.000"), (2.0, "x")]
