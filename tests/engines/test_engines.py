"""One test body on every engine of one machine: whoever counts, the release is the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.sources import write_table
from shoal.data.sources.database import quoted_name
from shoal.data.spec import Spec
from shoal.data.table import Table
from shoal.engines import Engine
from shoal.engines.duckdb import DuckDBEngine
from shoal.engines.polars import PolarsEngine
from shoal.errors import InputError
from tests.engines.kinds import all_kinds, hospital, some_kinds

QI = ("text with. dots", "part", "day, of", "moment", "price", "truth")
TABLES: dict[str, Callable[[], tuple[pl.DataFrame, Spec]]] = {
    "hospital": lambda: hospital(200_000),
    "kinds": lambda: (all_kinds(1200), some_kinds(*QI)),
}
ENGINES: dict[str, Callable[[], Engine]] = {
    "polars": lambda: PolarsEngine(large=0),
    "duckdb": DuckDBEngine,
}


class Given:
    """A table as files of every kind, and the release that is made of it in memory."""

    def __init__(self, name: str, home: Path) -> None:
        frame, self.spec = TABLES[name]()
        self.files = {"parquet": home / f"{name}.parquet", "csv": home / f"{name}.csv"}
        self.files["folder"] = home / name
        (home / name / "half=1").mkdir(parents=True)
        (home / name / "half=2").mkdir()
        half = frame.height // 2
        write_table(frame.head(half), home / name / "half=1" / "a.parquet")
        write_table(frame.tail(frame.height - half), home / name / "half=2" / "b.parquet")
        for file in (self.files["parquet"], self.files["csv"]):
            write_table(frame, file)
        self._made: dict[str, shoal.Release] = {}

    def made(self, kind: str) -> shoal.Release:
        """The release of one of the files, made in memory."""
        if kind not in self._made:
            frame = shoal.read_table(self.files[kind])
            self._made[kind] = shoal.anonymize(frame, self.spec, seed=3)
        return self._made[kind]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Given]:
    made: dict[str, Given] = {}

    def give(name: str) -> Given:
        if name not in made:
            made[name] = Given(name, tmp_path_factory.mktemp(name))
        return made[name]

    return give


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Enum).cast(pl.String))


@pytest.mark.parametrize("engine", list(ENGINES))
@pytest.mark.parametrize(
    ("table", "kind"),
    [("hospital", "parquet"), ("kinds", "parquet"), ("kinds", "csv"), ("kinds", "folder")],
)
def test_the_same_seed_gives_the_same_release(
    given: Any, table: str, kind: str, engine: str, tmp_path: Path
) -> None:
    subject = given(table)
    here, file = subject.made(kind), subject.files[kind]
    there = shoal.anonymize(file, subject.spec, engine=ENGINES[engine](), seed=3)
    assert there.row_groups is None, "rows were counted, not held"
    assert there.certificate == here.certificate
    for name in ("qi", "sensitive", "members"):
        assert plain(getattr(there, name)).equals(plain(getattr(here, name)))
    there.save(tmp_path / "there", private=tmp_path / "private")
    found = shoal.verify(
        tmp_path / "there", file, private=tmp_path / "private", engine=ENGINES[engine]()
    )
    assert found.confirmed, [check for check in found.checks if not check.passed]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_rows_read_in_parts_are_dealt_as_rows_at_hand(
    given: Any, kind: str, tmp_path: Path
) -> None:
    subject = given("kinds")
    subject.made(kind).save(tmp_path / "here", private=tmp_path / "here-private")
    there = shoal.anonymize(subject.files[kind], subject.spec, engine=PolarsEngine(large=0), seed=3)
    there.save(tmp_path / "there", private=tmp_path / "there-private")
    for name in ("row_groups.parquet", "row_risks.parquet"):
        one, other = (
            pl.read_parquet(tmp_path / f"{where}-private" / name) for where in ("here", "there")
        )
        assert one.equals(other)


@pytest.mark.parametrize("engine", list(ENGINES))
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_cells_travel_alone(given: Any, engine: str, kind: str, tmp_path: Path) -> None:
    subject = given("kinds")
    file = tmp_path / "cells.parquet"
    cells = shoal.count(subject.files[kind], subject.spec, file, engine=ENGINES[engine]())
    assert cells["(rows)"].sum() == 1200
    release = shoal.anonymize(file, subject.spec, seed=3)
    assert release.certificate == subject.made(kind).certificate
    release.save(tmp_path / "release", private=tmp_path / "private")
    assert (tmp_path / "private" / "cell_groups.parquet").is_file()
    for table in (file, subject.files[kind]):
        found = shoal.verify(tmp_path / "release", table, private=tmp_path / "private")
        assert found.confirmed, [check for check in found.checks if not check.passed]
    assert shoal.plan(file, subject.spec).rows == 1200


def test_a_database_is_counted_where_it_is(given: Any, tmp_path: Path) -> None:
    import duckdb

    subject = given("kinds")
    frame = shoal.read_table(subject.files["parquet"])
    names = [name for name in frame.columns if name != "void"]
    listed = ", ".join(quoted_name(name) for name in names)
    with duckdb.connect(tmp_path / "clinic.duckdb") as connection:
        source = f"read_parquet('{subject.files['parquet']}')"
        connection.sql(f"create table people as select {listed} from {source}")
    url = f"duckdb:///{tmp_path / 'clinic.duckdb'}?table=people"
    release = shoal.anonymize(url, subject.spec, engine=DuckDBEngine(), seed=3)
    assert release.certificate == subject.made("parquet").certificate


def test_changed_cells_of_a_private_record_are_caught(given: Any, tmp_path: Path) -> None:
    subject = given("kinds")
    file = subject.files["parquet"]
    release = shoal.anonymize(file, subject.spec, seed=3)
    release.save(tmp_path / "release", private=tmp_path / "private", record="cells")
    record = tmp_path / "private" / "cell_groups.parquet"
    lines = pl.read_parquet(record)
    fewer = lines.filter(pl.int_range(pl.len()) != 5)
    fewer.write_parquet(record)
    found = shoal.verify(tmp_path / "release", file, private=tmp_path / "private")
    assert not found.confirmed
    swapped = lines.with_columns(pl.col("gid").reverse())
    swapped.write_parquet(record)
    found = shoal.verify(tmp_path / "release", file, private=tmp_path / "private")
    assert not found.confirmed
    lines.with_columns(pl.lit("nobody").alias("text with. dots")).write_parquet(record)
    with pytest.raises(InputError, match="people whom the table does not have"):
        shoal.verify(tmp_path / "release", file, private=tmp_path / "private")


def test_a_file_that_changes_in_between_is_noticed(tmp_path: Path) -> None:
    frame, spec = hospital(2_000)
    file = tmp_path / "people.parquet"
    write_table(frame, file)
    release = shoal.anonymize(file, spec, engine=PolarsEngine(large=0), seed=0)
    write_table(frame.with_columns(age=pl.col("age") + 50), file)
    with pytest.raises(InputError, match="has changed"):
        release.save(tmp_path / "release", private=tmp_path / "private")
    assert not (tmp_path / "release").exists()


def test_too_many_cells_are_refused_with_the_columns_to_blame(tmp_path: Path) -> None:
    rows = 600_000
    codes = [row // 2 for row in range(rows)]
    frame = pl.DataFrame({"code": codes, "sex": ["f", "m"] * (rows // 2)})
    frame = frame.with_columns(ill=pl.Series(["yes", "no", "no"] * (rows // 3)))
    write_table(frame, tmp_path / "people.parquet")
    spec = Spec(qi=["code", "sex"], sensitive="ill", protect=["yes"], r=2)
    for engine in ENGINES.values():
        with (
            shoal.memory_limit("100MB"),
            pytest.raises(InputError, match='"code" \\(300,000 values\\)') as raised,
        ):
            shoal.anonymize(tmp_path / "people.parquet", spec, engine=engine())
        assert "without" in str(raised.value)


def test_what_an_engine_cannot_take_is_said() -> None:
    frame, spec = hospital(2_000)
    with pytest.raises(InputError, match="not a DataFrame"):
        shoal.anonymize(frame, spec, engine=DuckDBEngine())


def test_counted_columns_may_have_any_name() -> None:
    frame = pl.DataFrame({"rows": [1, 1, 2, 2], "(rows)": list("aabb"), "s": list("xyxy")})
    spec = Spec(qi=["rows", "(rows)"], sensitive="s", protect=["x"], r=2)
    counted = PolarsEngine().counted(frame, spec)
    assert counted.count.name == "((rows))"
    assert counted.table(spec).rows == Table.from_frame(frame, spec).rows == 4


@pytest.mark.parametrize("engine", list(ENGINES))
@pytest.mark.parametrize("rows", [1, 200_000])
def test_damaged_text_is_refused_in_the_same_words(engine: str, rows: int, tmp_path: Path) -> None:
    spec = Spec(qi=["q"], sensitive="s", protect=["x"], r=2)
    good = "a,x\nb,y\n" * rows
    for damaged in ("a,x,y\n", 'a,"x\n'):
        file = tmp_path / "people.csv"
        file.write_text(f"q,s\n{good}{damaged}{good}")
        with pytest.raises(InputError) as here:
            shoal.read_table(file)
        with pytest.raises(InputError) as there:
            shoal.anonymize(file, spec, engine=ENGINES[engine]())
        assert str(there.value) == str(here.value)


@pytest.mark.parametrize(
    "name", ["line", "code", "place", "(copies)", "(published) s", "signature"]
)
@pytest.mark.parametrize("role", ["qi", "sensitive"])
def test_columns_may_be_called_as_those_of_records(name: str, role: str, tmp_path: Path) -> None:
    frame, spec = hospital(2_000)
    old = {"qi": "sex", "sensitive": "diagnosis"}[role]
    frame = frame.rename({old: name, **({"diagnosis": "s"} if role == "qi" else {})})
    spec = spec.with_(
        qi=[name if one == old else one for one in spec.qi],
        sensitive="s" if role == "qi" else name,
    )
    file = tmp_path / "people.parquet"
    write_table(frame, file)
    for record in ("rows", "cells"):
        release = shoal.anonymize(file, spec, engine=PolarsEngine(large=0), seed=0)
        private = tmp_path / f"{record}-private"
        release.save(tmp_path / record, private=private, record=record)
        found = shoal.verify(tmp_path / record, file, private=private)
        assert found.confirmed, [check for check in found.checks if not check.passed]
