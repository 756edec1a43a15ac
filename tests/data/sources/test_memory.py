"""Files that unfold to more than memory holds are refused with a sentence, and never read."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import shoal
from shoal import memory
from shoal.data.sources import read_table, write_table
from shoal.data.sources.weighed import unpacked_sizes
from shoal.data.table.hierarchy import read_hierarchy
from shoal.memory import allowed_memory, machine_memory, memory_limit, parse_size, size_words
from tests.cli.program import refused, shoal_
from tests.data.sources.expect import fails_with
from tests.data.sources.files import PEOPLE, write

LIMIT = 2 * 10**9
"""Bytes of addresses that a process which meets a bomb has; tables may take half of it."""
SHEET = "xl/worksheets/sheet1.xml"


def gzip_bomb(folder: Path) -> Path:
    """4 GB in 4 MB: files in gzip can be put one behind another."""
    part = gzip.compress(b"1,2\n" * (1 << 24), 1)
    with (folder / "bomb.csv.gz").open("wb") as file:
        file.write(gzip.compress(b"a,b\n"))
        for _ in range(64):
            file.write(part)
    return folder / "bomb.csv.gz"


def parquet_bomb(folder: Path) -> Path:
    """250,000,000 rows of one value."""
    part = pa.table({"a": np.zeros(25_000_000, np.int64)})
    with parquet.ParquetWriter(folder / "bomb.parquet", part.schema) as writer:
        for _ in range(10):
            writer.write_table(part, row_group_size=25_000_000)
    return folder / "bomb.parquet"


def arrow_bomb(folder: Path) -> Path:
    """A batch of a gigabyte of zeros in some kilobytes."""
    batch = pa.record_batch({"a": np.zeros(120_000_000, np.int64)})
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_file(folder / "bomb.arrow", batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return folder / "bomb.arrow"


def workbook(path: Path, cells: str, *, claimed: int | None = None, heading: str = "a") -> Path:
    """A workbook whose sheet holds that XML; its directory may lie about the size of it."""
    write_excel = io.BytesIO()
    pl.DataFrame({"a": [1]}).write_excel(write_excel)
    out = io.BytesIO()
    with zipfile.ZipFile(write_excel) as book, zipfile.ZipFile(out, "w", 8) as new:
        for name in book.namelist():
            content = book.read(name)
            if name == SHEET:
                begin, end = content.index(b"<sheetData>") + 11, content.index(b"</sheetData>")
                content = content[:begin] + cells.encode() + content[end:]
            if name == "xl/sharedStrings.xml":
                content = content.replace(b"<t>a</t>", f"<t>{heading}</t>".encode())
            new.writestr(name, content)
        true = new.getinfo(SHEET).file_size
    data = out.getvalue()
    if claimed is not None:
        data = data.replace(true.to_bytes(4, "little"), claimed.to_bytes(4, "little"))
    return write(path, data)


def excel_bomb(folder: Path) -> Path:
    return workbook(folder / "bomb.xlsx", " " * 600_000_000)


def far_cell(folder: Path) -> Path:
    """Two cells, and 17,179,869,184 between them."""
    cells = '<row r="1"><c r="A1"><v>1</v></c></row><row r="9"><c r="XFD1048576"><v>2</v></c></row>'
    return workbook(folder / "far.xlsx", cells)


def shared_text(folder: Path) -> Path:
    """20,000 cells that show one text of 100,000 letters."""
    rows = (f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 20_000))
    return workbook(folder / "shared.xlsx", "".join(rows), heading="x" * 100_000)


def long_text(folder: Path) -> Path:
    return write(folder / "lines.csv", b"a\n" + b"\n" * 40_000_000)


@pytest.mark.parametrize(
    "bomb", [gzip_bomb, parquet_bomb, arrow_bomb, excel_bomb, far_cell, shared_text, long_text]
)
def test_a_bomb_is_refused_with_a_sentence(tmp_path: Path, bomb: object) -> None:
    """In a process that would not survive to read it. What is limited is memory, not addresses:
    libraries reserve gigabytes of these and use none."""
    path = bomb(tmp_path)  # type: ignore[operator]
    script = f"""
        import resource, sys
        resource.setrlimit(resource.RLIMIT_DATA, ({LIMIT}, {LIMIT}))
        from shoal import InputError, memory_limit, read_table
        try:
            with memory_limit({LIMIT // 4}):
                read_table(sys.argv[1])
        except InputError as error:
            print(error.code)
    """
    if os.name != "posix":
        pytest.skip("no limits here")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.stdout == "memory\n", done


def test_a_directory_that_lies_about_sizes_is_damaged(tmp_path: Path) -> None:
    path = workbook(tmp_path / "lies.xlsx", " " * 3_000_000, claimed=1000)
    with fails_with("file-damaged"):
        read_table(path)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_what_fits_is_read_and_what_does_not_is_refused(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"a": np.arange(1_000_000), "b": ["one", "other"] * 500_000})
    write_table(frame, tmp_path / name)
    with memory_limit("20MB"), fails_with("memory", name, "20.0 MB may be taken", "--memory"):
        read_table(tmp_path / name)
    with memory_limit("200MB"):
        assert read_table(tmp_path / name).equals(frame)
    parquet_only = name == "t.parquet"
    if parquet_only:
        with memory_limit("20MB"):
            assert read_table(tmp_path / name, columns=["a"]).width == 1


@pytest.mark.parametrize("packed", [None, "zstd", "lz4"])
def test_arrow_files_are_weighed_without_unpacking(tmp_path: Path, packed: str | None) -> None:
    table = pa.table({"a": np.arange(900), "b": pa.array(["x", "y"] * 450).dictionary_encode()})
    options = ipc.IpcWriteOptions(compression=packed)
    with ipc.new_file(tmp_path / "t.arrow", table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=300)
    words, *batches = unpacked_sizes(tmp_path / "t.arrow")
    assert words >= 2
    assert batches == [300 * (8 + 4)] * 3
    PEOPLE.write_ipc(tmp_path / "u.arrow", compression="zstd")
    assert len(list(unpacked_sizes(tmp_path / "u.arrow"))) == 1


def test_a_query_that_gives_too_many_rows(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    duckdb.connect(tmp_path / "t.db").close()
    url = f"duckdb:///{tmp_path / 't.db'}?query=select range a from range({{}})"
    with memory_limit("20MB"), fails_with("memory", "20.0 MB may be taken"):
        read_table(url.format(10**10))
    with memory_limit("20MB"):
        assert read_table(url.format(10**5)).height == 10**5


def test_files_that_are_parsed_whole(tmp_path: Path) -> None:
    spec = write(tmp_path / "spec.toml", "# " + "x" * 400_000)
    wide = write(tmp_path / "wide.csv", "a;b;*\n" * 100_000)
    with memory_limit("10MB"):
        with fails_with("memory", "spec.toml"):
            shoal.Spec.from_toml(spec)
        with fails_with("memory", "wide.csv"):
            read_hierarchy(wide, name="a")
    deep = write(tmp_path / "deep.toml", "qi = " + "[" * 50_000)
    with fails_with("spec-file"):
        shoal.Spec.from_toml(deep)
    with fails_with("hierarchy-form"):
        read_hierarchy(deep, name="a")
    (tmp_path / "release").mkdir()
    for text in ("[" * 200_000, '{"a":' * 100_000):
        write(tmp_path / "release" / "certificate.json", text)
        with fails_with("certificate-damaged"):
            shoal.Release.load(tmp_path / "release")


def test_a_header_of_many_columns(tmp_path: Path) -> None:
    with fails_with("csv-header", "900,001"):
        read_table(write(tmp_path / "commas.csv", b"a" + b"," * 900_000 + b"\n1\n"))
    names = ",".join(f"c{i}" for i in range(3000))
    many = write(tmp_path / "many.csv", f"{names}\n{'1,' * 2999}1\n")
    assert read_table(many).shape == (1, 3000)


def test_fifty_thousand_protected_values(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"q": [i % 1000 for i in range(200_000)], "v": [f"v{i % 50_001}" for i in range(200_000)]}
    )
    spec = shoal.Spec(qi="q", sensitive="v", r=2, protect=[f"v{i}" for i in range(50_000)])
    with memory_limit("2GB"), fails_with("too-large", "50,000 events", "2.0 GB may be taken"):
        shoal.anonymize(frame, spec)


def test_the_option_of_the_commands(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    write_table(pl.DataFrame({"q": [1, 2] * 300_000, "v": ["a", "b"] * 300_000}), table)
    spec = ["--qi", "q", "--sensitive", "v", "-r", "2"]
    for command in ("plan", "init"):
        given = spec if command == "plan" else []
        refused(shoal_(command, table, *given, "--memory", "15MB"), "memory")
    refused(shoal_("plan", table, *spec, "--memory", "much"), "memory-size")


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2 * 10**9), ("1.5 GiB", 3 << 29), ("500mb", 5 * 10**8), ("20000000", 2 * 10**7)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size
    with memory_limit(text):
        assert allowed_memory() == size
    assert allowed_memory() == machine_memory() // 2


@pytest.mark.parametrize("text", ["", "GB", "-2GB", "2PB", "2 G B", "1e9", "5MB", "nan"])
def test_no_sizes(text: str) -> None:
    with fails_with("memory-size", f'"{text}"'), memory_limit(text):
        raise AssertionError("not reached")


def test_how_sizes_are_said() -> None:
    assert [size_words(n) for n in (7, 2.5e6, 3e9)] == ["7 bytes", "2.5 MB", "3.0 GB"]


def test_the_limits_of_control_groups(tmp_path: Path) -> None:
    groups = tmp_path / "sys" / "fs" / "cgroup"
    (groups / "one" / "two").mkdir(parents=True)
    (groups / "memory" / "a").mkdir(parents=True)
    own = write(tmp_path / "own", "0::/one/two\n4:memory:/a/b\n3:cpu:/a\n")
    write(groups / "one" / "two" / "memory.max", "max\n")
    write(groups / "one" / "memory.max", "1000\n")
    write(groups / "memory" / "a" / "memory.limit_in_bytes", "2000\n")
    assert sorted(memory._group_limits(tmp_path, own)) == [1000, 2000]
    assert memory._group_limits(tmp_path, tmp_path / "nowhere") == []


def test_a_machine_has_memory() -> None:
    assert machine_memory() > 2**26
