"""The page of the table: files in, and what it says of them."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shoal.workbench.project import Source
from shoal.workbench.uploads import clean_name
from tests.workbench.visitor import Visitor

SMALL = b"age,sex,illness\n31,f,flu\n31,m,HIV\n40,f,\n"


def test_a_dropped_file_becomes_the_table(visitor: Visitor) -> None:
    answer = visitor.send("people.csv", SMALL)
    assert (answer.status, answer.headers["location"]) == (303, "/table")
    assert (visitor.project.folder / "uploads" / "people.csv").read_bytes() == SMALL
    assert visitor.project.source == Source("uploads/people.csv")
    words = visitor.get("/table").words
    assert "3 rows, 3 columns" in words
    assert "illness text 2 1 66.7" in words.replace("\xa0", " ")


def test_a_file_of_the_folder_is_chosen(visitor: Visitor) -> None:
    (visitor.project.folder / "own.csv").write_bytes(SMALL.replace(b",", b";"))
    assert 'value="own.csv"' in visitor.get("/table").text
    answer = visitor.follow("/table/choose", {"path": "own.csv", "separator": ";"})
    assert "3 rows, 3 columns" in answer.words
    assert "--separator ';'" in answer.words


def test_what_is_wrong_is_said_beside_the_field(visitor: Visitor) -> None:
    (visitor.project.folder / "own.csv").write_bytes(SMALL)
    answer = visitor.post("/table/choose", {"path": "own.csv", "encoding": "latin-99"})
    assert answer.status == 422
    assert 'id="wrong-encoding"' in answer.text
    assert 'value="latin-99"' in answer.text
    answer = visitor.send("people.docx", SMALL)
    assert 'id="wrong-file"' in answer.text
    answer = visitor.post("/table/choose", {"database": "mysql://host/x?table=t"})
    assert 'id="wrong-database"' in answer.text
    assert 'value="mysql://host/x?table=t"' in answer.text


def test_a_database_in_the_folder_is_read(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(visitor.project.folder)
    with duckdb.connect("people.db") as database:
        database.execute(
            "create table t as select i % 40 as age, 'flu' as illness from range(80) r(i)"
        )
    address = "duckdb:///people.db?table=t"
    assert "80 rows, 2 columns" in visitor.follow("/table/choose", {"database": address}).words
    assert visitor.project.source == Source(address)
    assert "shoal init 'duckdb:///people.db?table=t'" in visitor.get("/table").words


def test_a_changed_file_is_read_again(visitor: Visitor) -> None:
    visitor.send("people.csv", SMALL)
    assert "3 rows" in visitor.get("/table").words
    (visitor.project.folder / "uploads" / "people.csv").write_bytes(SMALL + b"50,m,flu\n")
    assert "4 rows" in visitor.get("/table").words


def test_a_missing_file_is_told_and_another_can_be_chosen(visitor: Visitor) -> None:
    visitor.send("people.csv", SMALL)
    (visitor.project.folder / "uploads" / "people.csv").unlink()
    answer = visitor.get("/table")
    assert answer.status == 200
    assert "[file-missing]" in answer.words


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/people.csv", "people.csv"),
        ("C:\\data\\people.csv", "people.csv"),
        ("a b<script>.csv", "a b_script_.csv"),
        ("-rf.csv", "rf.csv"),
        ("Ä‮x.csv", "Ä_x.csv"),
        ("é" * 200 + ".csv", "é" * 58 + ".csv"),
    ],
)
def test_names_of_dropped_files_are_cleaned(given: str, kept: str) -> None:
    assert clean_name(given) == kept


def test_a_dropped_file_that_is_written_otherwise_can_be_chosen_with_how(visitor: Visitor) -> None:
    answer = visitor.send("people.csv", "größe;ort\n1;Köln\n2;Bonn\n".encode("latin-1"))
    assert answer.status == 422
    assert 'id="wrong-encoding"' in answer.text
    assert "uploads/people.csv" in answer.text
    how = {"path": "uploads/people.csv", "separator": "", "encoding": "latin-1"}
    assert "2 rows, 2 columns" in visitor.follow("/table/choose", how).words


def test_a_damaged_file_is_told_beside_the_field(visitor: Visitor) -> None:
    assert 'id="wrong-file"' in visitor.send("people.parquet", b"none").text


def test_a_table_that_vanished_is_not_said_to_be_none(visitor: Visitor) -> None:
    assert "No table is chosen yet" in visitor.get("/table").words
    assert visitor.send("gone.csv", b"age,sex\n30,f\n40,m\n").status == 303
    (visitor.project.folder / "uploads/gone.csv").unlink()
    words = visitor.get("/table").words
    assert "[file-missing]" in words
    assert "No table is chosen yet" not in words


def test_a_tab_can_be_written_as_a_word(visitor: Visitor) -> None:
    (visitor.project.folder / "own.csv").write_text("a,b\tc\n1,5\tx\n2,5\ty\n", "utf-8")
    form = {"path": "own.csv", "separator": "tab"}
    assert "2 rows, 2 columns" in visitor.follow("/table/choose", form).words
    assert visitor.project.source is not None
    assert visitor.project.source.separator == "\t"
    assert 'value="tab"' in visitor.get("/table").text


def test_roles_stay_with_a_table_of_the_same_columns(visitor: Visitor) -> None:
    visitor.send("first.csv", b"age,sex,diagnosis\n1,m,HIV\n2,f,flu\n")
    draft = {"qi": ["sex"], "sensitive": "diagnosis", "r": 7, "identifiers": ["age"]}
    visitor.project.write_draft(draft)
    visitor.send("second.csv", b"diagnosis,sex,age,more\nHIV,m,1,x\nflu,f,2,y\n")
    assert visitor.project.draft == draft
    visitor.send("third.csv", b"age,illness\n1,HIV\n2,flu\n")
    assert visitor.project.draft != draft


def test_a_dropped_file_is_never_overwritten(visitor: Visitor) -> None:
    visitor.send("people.csv", SMALL)
    more = SMALL + b"50,m,flu\n"
    visitor.send("people.csv", more)
    source = visitor.project.source
    assert source is not None
    assert source.address == f"uploads/people-{hashlib.sha256(more).hexdigest()[:8]}.csv"
    for name, content in (("people.csv", SMALL), (Path(source.address).name, more)):
        assert (visitor.project.folder / "uploads" / name).read_bytes() == content
    for content in (SMALL, more):  # what is there already is not kept twice
        visitor.send("people.csv", content)
    assert len(list((visitor.project.folder / "uploads").iterdir())) == 2
    assert visitor.project.source == source


def test_many_who_drop_files_of_one_name_at_once_each_get_their_own(visitor: Visitor) -> None:
    contents = [SMALL + b"50,m,flu\n" * number for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda content: visitor.send("people.csv", content), contents))
    assert {answer.status for answer in answers} == {303}
    kept = [path.read_bytes() for path in (visitor.project.folder / "uploads").iterdir()]
    assert sorted(kept) == sorted(contents)


def test_an_encoding_does_not_stick_to_the_next_file(visitor: Visitor) -> None:
    (visitor.project.folder / "old.csv").write_bytes(
        "größe,ort\n1,Köln\n2,Bonn\n".encode("latin-1")
    )
    visitor.send("new.csv", "größe,ort\n1,Köln\n2,Bonn\n".encode())
    visitor.follow("/table/choose", {"path": "old.csv", "encoding": "latin-1"})
    page = visitor.get("/table").text
    assert page.count('value="latin-1"') == 1
    again = page[page.index('action="/table/again"') :]
    assert 'value="latin-1"' in again[: again.index("</form>")]
    visitor.follow("/table/choose", {"path": "uploads/new.csv"})
    assert visitor.project.source == Source("uploads/new.csv")


def test_how_the_table_at_hand_is_read_can_be_changed(visitor: Visitor) -> None:
    visitor.send("people.csv", "größe,ort\n1,Köln\n2,Bonn\n".encode())
    visitor.follow("/table/again", {"separator": ",", "encoding": "latin-1"})
    assert visitor.project.source == Source("uploads/people.csv", ",", "latin-1")
    answer = visitor.post("/table/again", {"separator": ",", "encoding": "none"})
    assert answer.status == 422
    assert answer.text.count('id="wrong-encoding"') == 1
    assert visitor.project.source == Source("uploads/people.csv", ",", "latin-1")


def test_a_table_without_rows_does_not_become_the_projects(visitor: Visitor) -> None:
    visitor.send("people.csv", SMALL)
    before = visitor.project.source, visitor.project.draft
    (visitor.project.folder / "none.csv").write_text("age,sex,diagnosis\n")
    for answer in (
        visitor.send("empty.csv", b"age,sex,diagnosis\n"),
        visitor.post("/table/choose", {"path": "none.csv"}),
    ):
        assert answer.status == 422
        assert "[table-empty]" in answer.words
        assert (visitor.project.source, visitor.project.draft) == before
