"""PostgreSQL: a real server, started for these tests on loopback, in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from adbc_driver_postgresql import dbapi

from shoal.data.sources import read_table
from shoal.errors import InputError

PASSWORD = "swordfish-1"


def server_binaries() -> Path:
    """Where initdb and postgres are: on the path, or where Debian puts them."""
    found = shutil.which("postgres")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    pytest.skip("no PostgreSQL server is installed (Debian: apt-get install postgresql)")


def ordinary_user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: the user to run it as, for subprocess."""
    if os.geteuid():
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL does not run as root, and there is no other user")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """`127.0.0.1:port` of a running server with the user ann and a few tables."""
    binaries, user = server_binaries(), ordinary_user()
    folder = Path(tempfile.mkdtemp(prefix="shoal-postgres-"))
    (folder / "password").write_text(PASSWORD)
    if user:
        for path in (folder, folder / "password"):
            os.chown(path, user["user"], user["group"])
    subprocess.run(
        [
            *(binaries / "initdb", "-D", folder / "data", "-U", "ann", "-A", "scram-sha-256"),
            *("--pwfile", folder / "password", "-N", "-E", "UTF8", "--locale", "C"),
        ],
        check=True,
        capture_output=True,
        cwd=folder,
        **user,
    )
    port = free_port()
    settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"]
    command: list[Any] = [binaries / "postgres", "-D", folder / "data", "-p", str(port)]
    for setting in settings:
        command += ["-c", setting]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stderr=log, stdout=log, cwd=folder, **user)
    try:
        fill(port, process)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(folder)


def fill(port: int, process: subprocess.Popen[bytes]) -> None:
    os.environ["PGPASSWORD"] = PASSWORD
    try:
        with connected(port, process) as connection, connection.cursor() as cursor:
            for statement in (
                "create table patients (id bigint, age int, zip text, income numeric(10,2), "
                "visits numeric, insured boolean, born date, token uuid, stay interval)",
                "insert into patients values "
                "(1, 30, '00123', 1.50, 7, true, '1990-01-02', "
                "'12345678-1234-5678-1234-567812345678', '1 day'), "
                "(2, null, null, null, 8, null, null, null, null)",
                "create schema ward",
                'create table ward."Odd ""name""" (beds int)',
                'insert into ward."Odd ""name""" values (7)',
                "create role bob login password 'other-word'",
            ):
                cursor.execute(statement)
    finally:
        del os.environ["PGPASSWORD"]


def connected(port: int, process: subprocess.Popen[bytes]) -> Any:
    for _ in range(200):
        assert process.poll() is None, "the server stopped at once"
        try:
            return dbapi.connect(f"postgresql://ann@127.0.0.1:{port}/postgres", autocommit=True)
        except dbapi.OperationalError:
            time.sleep(0.05)
    raise AssertionError("the server does not answer")


@pytest.fixture
def _password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


PLAIN = ["id", "age", "zip", "income", "visits", "insured", "born", "token"]


@pytest.mark.usefixtures("_password")
def test_a_table_with_its_types(server: str) -> None:
    frame = read_table(f"postgresql://ann@{server}/postgres?table=patients", columns=PLAIN)
    assert frame.schema == {
        "id": pl.Int64,
        "age": pl.Int32,
        "zip": pl.String,
        "income": pl.Float64,
        "visits": pl.Int64,
        "insured": pl.Boolean,
        "born": pl.Date,
        "token": pl.String,
    }
    first, second = frame.rows()
    assert first[:6] == (1, 30, "00123", 1.5, 7, True)
    assert first[7] == "12345678-1234-5678-1234-567812345678"
    assert second == (2, None, None, None, 8, None, None, None)
    with pytest.raises(InputError) as caught:
        read_table(f"postgresql://ann@{server}/postgres?table=patients")
    assert str(caught.value) == (
        'The column "stay" holds intervals, which shoal does not read. '
        "Read the other columns only, or turn it into text with a query."
    )


@pytest.mark.usefixtures("_password")
def test_schemas_queries_and_options(server: str) -> None:
    base = f"postgresql://ann@{server}/postgres"
    assert read_table(f'{base}?table=ward.Odd "name"')["beds"].to_list() == [7]
    query = "select age + 1 as next, 'a' || '%25' as sign from patients where id = 1;"
    assert read_table(f"{base}?sslmode=disable&query={query}").row(0) == (31, "a%")
    counted = read_table(
        f"postgres{base.removeprefix('postgresql')}?query=select count(*) as n from patients"
    )
    assert counted.row(0) == (2,)


@pytest.mark.usefixtures("_password")
def test_nothing_is_ever_written(server: str) -> None:
    base = f"postgresql://ann@{server}/postgres"
    with pytest.raises(InputError) as caught:
        read_table(f"{base}?query=delete from patients")
    assert str(caught.value) == (
        f"postgresql://{server}/postgres?query=(not shown) said: "
        '"cannot execute DELETE in a read-only transaction". '
        "Check the address, the rights of the user, and the query."
    )
    with pytest.raises(InputError, match="gives no table"):
        read_table(f"{base}?query=set application_name = 'x'")
    assert read_table(f"{base}?query=select 1 as n from patients").height == 2


@pytest.mark.usefixtures("_password")
def test_mistakes_in_the_address(server: str) -> None:
    def message(address: str) -> str:
        with pytest.raises(InputError) as caught:
            read_table(f"postgresql://{address}")
        return caught.value.problem

    base = f"ann@{server}/postgres"
    assert message(f"{base}?table=patient") == (
        'The database has no table "patient" (did you mean "patients"?).'
    )
    assert 'relation "nothing" does not exist' in message(f"{base}?query=select * from nothing")
    assert 'database "other" does not exist' in message(f"ann@{server}/other?table=t")
    assert "Connection refused" in message("ann@127.0.0.1:1/postgres?table=t")
    assert 'two columns named "a"' in message(f"{base}?query=select 1 as a, 2 as a")


def test_wrong_and_missing_passwords(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"postgresql://ann@{server}/postgres?table=patients"
    shown = f"postgresql://{server}/postgres?table=patients"
    monkeypatch.setenv("PGPASSWORD", "wrong-word")
    with pytest.raises(InputError) as caught:
        read_table(source)
    assert str(caught.value) == (
        f"{shown} did not accept the user name and password. "
        "Name the user in the address, and set PGPASSWORD or write ~/.pgpass."
    )
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("PGPASSFILE", os.devnull)
    with pytest.raises(InputError) as caught:
        read_table(source)
    assert str(caught.value) == (
        f"{shown} asks for a password, and none was found. Set PGPASSWORD, or write ~/.pgpass."
    )


def test_the_drivers_password_file(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, _, port = server.partition(":")
    file = tmp_path / "pgpass"
    file.write_text(f"{host}:{port}:*:ann:{PASSWORD}\n")
    file.chmod(0o600)
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", str(file))
    query = "select age from patients order by id"
    frame = read_table(f"postgresql://ann@{server}/postgres?query={query}")
    assert frame["age"].to_list() == [30, None]
    monkeypatch.delenv("PGPASSFILE")
    named = f"postgresql://ann@{server}/postgres?passfile={file}&query={query}"
    assert read_table(named).equals(frame)


@pytest.mark.usefixtures("_password")
def test_the_password_never_shows(server: str) -> None:
    base = f"postgresql://ann@{server}/postgres"
    for query in (f"select '{PASSWORD}'::int", f'select * from "{PASSWORD}"', "selec"):
        with pytest.raises(InputError) as caught:
            read_table(f"{base}?query={query}")
        assert PASSWORD not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__


def test_a_table_that_the_user_may_not_read(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "other-word")
    with pytest.raises(InputError, match="permission denied for table patients"):
        read_table(f"postgresql://bob@{server}/postgres?table=patients")
