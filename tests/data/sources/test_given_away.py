"""What must not reach a message or a file: passwords, formulas, masked values."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.sources import read_table, write_table
from shoal.data.sources.bare import bare
from shoal.data.sources.guard import guarded, guarded_text, risky_texts, unguarded
from shoal.data.storage import redact
from shoal.errors import InputError

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


RUN = [
    "=1",
    "+1",
    "@a",
    "-x",
    "-",
    "-9+cmd|' /C calc'!A0",
    "-9 or (missing)",
    "--9",
    "-9e",
    "-Infinity",
]
RUN += [
    "\t9",
    "\r9",
    " =1",
    "\u00a0=1",
    "\u3000@x",
    "\n=1",
    "＝1",
    "＋1",
    "＠a",
    "－9",
    "  -x",
    "- 9",
]
SAFE = [
    "-9",
    "-9.5e3",
    "-.5",
    "-9.",
    "-0",
    " -9 ",
    "[-9, -5]",
    "a=b",
    "'quoted'",
    "1-2",
    "",
    "−9",
    "'-9",
]


def test_what_a_spreadsheet_would_run_is_guarded_and_nothing_else() -> None:
    frame = pl.DataFrame({"run": RUN})
    assert guarded(frame)["run"].to_list() == ["'" + text for text in RUN]
    assert guarded(pl.DataFrame({"safe": SAFE})).equals(pl.DataFrame({"safe": SAFE}))
    assert risky_texts(pl.Series([*SAFE, *RUN, *RUN, None])) == sorted(RUN)
    assert risky_texts(pl.Series([-1, -2])) == []
    for text in (*RUN, *SAFE):
        assert guarded_text(text) == guarded(pl.DataFrame({"t": [text]}))["t"][0]


def test_columns_of_few_texts_are_written_as_texts_are(tmp_path: Path) -> None:
    quoted = ["a,b", 'say "x"', "", " c", "two\nlines"]
    for texts in (quoted, [*quoted, *RUN]):
        coded = pl.Series("coded", [*texts, None], pl.Enum(texts)).to_frame()
        plain = coded.with_columns(pl.col("coded").cast(pl.String))
        for frame, name in ((coded, "coded.csv"), (plain, "plain.csv")):
            write_table(frame, tmp_path / name)
        assert (tmp_path / "coded.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()


@given(st.lists(st.text(st.sampled_from("=+-@\t\r'ab19.e ＝－,\"\n"), max_size=6), min_size=1))
@settings(max_examples=400, deadline=None)
def test_guarding_loses_nothing(texts: list[str]) -> None:
    """No two texts become one, by the rule and by the list of texts that were guarded."""
    frame = pl.DataFrame({"t": texts})
    safe = guarded(frame)
    assert not safe["t"].str.contains(r"^([\t\r]|\s*[=+@＝＋＠－]|\s*-[^0-9.])").any()
    assert unguarded(safe).equals(frame)
    assert (
        safe["t"].replace({"'" + text: text for text in risky_texts(frame["t"])}).equals(frame["t"])
    )


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
