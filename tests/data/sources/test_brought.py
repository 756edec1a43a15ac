"""Tables that are compressed, piped in, matched by a pattern or elsewhere: as if they lay here."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from shoal.data.sources import brought, read_codebook, read_table, write_table
from shoal.data.sources.brought import forget
from shoal.data.sources.streamed import open_rows
from shoal.data.storage import redact
from shoal.data.storage.location import parse_url, source_path
from shoal.errors import InputError
from shoal.memory import memory_limit
from tests.data.sources.expect import fails_with
from tests.data.sources.files import PEOPLE, write
from tests.data.sources.serving import Blobs, Store, certified, served
from tests.data.sources.surveyed import save

TEXT = "age,name\n30,Zoë\n31,B\n"
ROWS = [(30, "Zoë"), (31, "B")]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    forget()


def zipped(name: str, **parts: str | bytes) -> str:
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, data in parts.items():
            archive.writestr(part, data)
    return name


# --- Compressed --------------------------------------------------------------------------


def test_compressed_tables_of_every_kind() -> None:
    write_table(PEOPLE, "p.parquet")
    for name, data in (("t.csv", TEXT.encode()), ("p.parquet", Path("p.parquet").read_bytes())):
        write(Path(f"{name}.gz"), gzip.compress(data))
        with pa.CompressedOutputStream(f"{name}.zst", "zstd") as file:
            file.write(data)
        zipped(f"{name}.zip", **{f"deep/{name}": data, "README.md": "", "__MACOSX/._t.csv": "x"})
    for ending in ("gz", "zst", "zip"):
        assert read_table(f"t.csv.{ending}").rows() == ROWS
        assert read_table(f"p.parquet.{ending}").equals(PEOPLE)
        rows = open_rows(f"t.csv.{ending}")
        assert rows is not None
        assert rows.finished(pl.concat(rows.frames(["name", "age"]))).rows() == [
            row[::-1] for row in ROWS
        ]


def test_an_archive_is_read_anew_when_it_changes() -> None:
    assert read_table(zipped("t.zip", **{"t.csv": TEXT})).height == 2
    assert read_table(zipped("t.zip", **{"t.csv": TEXT + "32,C\n"})).height == 3


def test_archives_with_several_tables_or_none() -> None:
    name = zipped("t.zip", **{"a.csv": TEXT, "b.csv": "x,y\n1,2\n"})
    with fails_with("zip-table", '"t.zip" holds 2 tables', "--sheet", "a.csv, b.csv"):
        read_table(name)
    assert read_table(name, sheet="b.csv").rows() == [(1, 2)]
    with fails_with("zip-table", 'no file "c.csv"', "a.csv, b.csv"):
        read_table(name, sheet="c.csv")
    with zipfile.ZipFile("d.zip", "w") as archive:
        archive.writestr("a.csv", TEXT)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.csv", TEXT + "9,9\n")
    for sheet in (None, "a.csv"):
        with fails_with("zip-table", 'holds two files "a.csv"'):
            read_table("d.zip", sheet=sheet)
    with fails_with("zip-table", "holds no table"):
        read_table(zipped("n.zip", **{"a.md": TEXT}))
    with fails_with("zip-table", "compressed itself"):
        read_table(zipped("z.zip", **{"t.zip": Path(name).read_bytes()}))
    with fails_with("option-unused", "sheet"):
        read_table(write(Path("t.csv"), TEXT), sheet="a.csv")


def test_an_archive_writes_nothing_where_it_says(tmp_path: Path) -> None:
    away = tmp_path.parent / "slipped.csv"
    for path in (f"../{away.name}", str(away)):
        assert read_table(zipped("t.zip", **{path: TEXT})).rows() == ROWS
        assert not away.exists()


def test_damaged_archives() -> None:
    whole = Path(zipped("t.zip", **{"t.csv": TEXT * 100})).read_bytes()
    lying = whole.replace((len(TEXT.encode()) * 100).to_bytes(4, "little"), b"\4\0\0\0")
    assert lying != whole
    for data in (b"PK\3\4 nonsense", whole[:-30], lying, whole.replace(b"\3\4", b"\3\5")):
        with fails_with("file-damaged", '"t.zip" cannot be unpacked'):
            read_table(write(Path("t.zip"), data))
    for name in ("t.csv.zst", "t.csv.gz"):
        with fails_with("file-damaged", f"no complete {Path(name).suffix} file"):
            read_table(write(Path(name), b"hello"))
    with fails_with("file-damaged", "cannot be unpacked"):
        read_table(write(Path("t.parquet.gz"), b"hello"))
    locked = bytearray(Path(zipped("l.zip", **{"t.csv": TEXT})).read_bytes())
    locked[locked.index(b"PK\1\2") + 8] |= 1
    with fails_with("zip-table", "locked by a password"):
        read_table(write(Path("l.zip"), bytes(locked)))
    with fails_with("file-empty", '"e.zip/t.csv" is empty'):
        read_table(zipped("e.zip", **{"t.csv": ""}))


def test_what_grows_beyond_memory_when_it_is_unpacked() -> None:
    zipped("t.zip", **{"t.csv": "a,b\n" + "1,2\n" * 4_000_000})
    assert Path("t.zip").stat().st_size < 100_000
    with memory_limit("20MB"), fails_with("memory", '"t.zip/t.csv"'):
        read_table("t.zip")


# --- Patterns ----------------------------------------------------------------------------


def test_patterns() -> None:
    for number in (1, 2):
        write_table(pl.DataFrame({"a": [number]}), f"part-{number}.parquet")
        Path(f"h/year={number}").mkdir(parents=True)
        write_table(pl.DataFrame({"a": [number]}), f"h/year={number}/t.parquet")
        write(Path(f"t-{number}.csv"), f"a;b\n{number};x\n")
    assert read_table("part-*.parquet").rows() == [(1,), (2,)]
    assert read_table("h/year=*/*.parquet").rows() == [(1, 1), (2, 2)]
    assert read_table("h/**/*.parquet").columns == ["a", "year"]
    assert read_table("t-[12].csv").rows() == [(1, "x"), (2, "x")]
    rows = open_rows("t-?.csv")
    assert rows is not None
    assert pl.concat(rows.frames(["a"])).rows() == [("1",), ("2",)]
    write(Path("t-[12].csv"), "a\n9\n")  # a file of that name comes first
    assert read_table("t-[12].csv").rows() == [(9,)]


def test_patterns_that_make_no_table() -> None:
    write(Path("t-1.csv"), "a,b\n1,x\n")
    write(Path("t-2.csv"), "a,c\n1,x\n")
    write(Path("t-3.jsonl"), '{"a":1}\n')
    with fails_with("folder", '"t-?.csv" matches do not have the same columns'):
        read_table("t-?.csv")
    with fails_with("folder", '"t-*" matches files of several formats'):
        read_table("t-*")
    with fails_with("file-missing", 'No file matches "u-*.csv"'):
        read_table("u-*.csv")


# --- Piped in ----------------------------------------------------------------------------


def test_what_is_piped_in_is_known_by_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(PEOPLE, "p.parquet")
    write_table(PEOPLE, "p.arrow")
    zipped("t.zip", **{"t.csv": TEXT})
    write(Path("t.csv"), b"\xef\xbb\xbf" + TEXT.encode())
    write(Path("t.csv.gz"), gzip.compress(TEXT.encode()))
    write(Path("t.jsonl"), '{"a":1}\n')
    shapes = {"p.parquet": (3, 4), "p.arrow": (3, 4), "t.jsonl": (1, 1)}
    for name in ("t.zip", "t.csv", "t.csv.gz", *shapes):
        forget()
        with Path(name).open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            assert read_table("-").shape == read_table("-").shape == shapes.get(name, (2, 2))


def test_a_pipe_into_the_command() -> None:
    def init(data: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "shoal", "init", "-", *options]
        return subprocess.run(command, input=data, capture_output=True, check=False)

    done = init(TEXT.encode("latin-1"))
    assert done.stderr.decode() == (
        'shoal: "what is piped in" is not written in UTF-8: line 2 holds the byte 0xEB. Say what '
        "it is written in, such as --encoding latin-1, or cp1252 from Windows. [encoding]\n"
    )
    for more in ((), ("--out", "-")):
        told = init(TEXT.encode("latin-1"), "--encoding", "latin-1", *more).stdout
        assert b"from 2 rows" in told
    assert not Path("-").exists()


# --- Elsewhere ---------------------------------------------------------------------------


def test_web_servers(tmp_path: Path) -> None:
    write(Path("t.csv"), TEXT)
    zipped("t.zip", **{"t.csv": TEXT.encode("latin-1")})
    write_table(PEOPLE, "p.parquet")
    with served(tmp_path) as address:
        assert read_table(f"{address}/t.csv?sig=SECRET").rows() == ROWS
        assert read_table(f"{address}/p.parquet").equals(PEOPLE)
        assert read_table(f"{address}/t.zip", encoding="latin-1").rows() == ROWS
        with fails_with("encoding", f'"{address}/t.zip/t.csv" is not written in UTF-8'):
            read_table(f"{address}/t.zip?sig=SECRET")
        with fails_with("url-unreachable", f"{address}/none.csv cannot be had", "404"):
            read_table(f"{address}/none.csv?sig=SECRET")
        with fails_with("url-unreachable", "ended early"):
            read_table(f"{address}/early.csv")
        with fails_with("url", "http://elsewhere.example/a.csv", "unencrypted"):
            read_table(f"{address}/away.csv")
    with fails_with("url-unreachable", "refused"):
        read_table(f"{address}/u.csv")
    with fails_with("url", "unencrypted"):
        read_table("http://clinic.example/t.csv")


def test_servers_by_https(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("t.csv"), TEXT)
    secret, public = certified(tmp_path)
    with served(tmp_path, secret=secret) as address:
        assert address.startswith("https://")
        with fails_with("url-unreachable", "certificate verify failed"):
            read_table(f"{address}/t.csv")
        monkeypatch.setenv("SSL_CERT_FILE", str(public))
        assert read_table(f"{address}/t.csv?sig=SECRET").rows() == ROWS
        with fails_with("url", "http://elsewhere.example/a.csv", "unencrypted"):
            read_table(f"{address}/away.csv")


def test_files_of_statistics_through_every_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ending in (".sav", ".zsav", ".dta", ".xpt"):
        file = save(Path(f"survey{ending}"))
        whole, told = read_table(file), read_codebook(file)
        zipped("packed.zip", **{file.name: file.read_bytes()})
        Path(f"{file}.gz").write_bytes(gzip.compress(file.read_bytes()))
        with served(tmp_path) as address:
            for door in ("packed.zip", f"{file}.gz", f"{address}/{file}", "survey*" + ending):
                assert read_table(door).equals(whole)
                assert read_codebook(door) == told
        forget()
        with file.open() as piped:
            monkeypatch.setattr(sys, "stdin", piped)
            assert read_table("-").equals(whole)


def test_s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "swordfish")
    Path("clinic/deep").mkdir(parents=True)
    write(Path("clinic/deep/t.csv"), TEXT)
    for number in (1, 2):
        write_table(pl.DataFrame({"a": [number]}), f"clinic/deep/part-{number}.parquet")
    with served(tmp_path, Store) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        assert read_table("s3://clinic/deep/t.csv").rows() == ROWS
        assert read_table("s3://clinic/d*/part-*.parquet").rows() == [(1,), (2,)]
        with fails_with("url-unreachable", "s3://clinic/none.csv", "nothing of that name"):
            read_table("s3://clinic/none.csv")
        with fails_with("file-missing", "s3://clinic/n*.csv"):
            read_table("s3://clinic/n*.csv")


def test_azure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acct/clinic").mkdir(parents=True)
    write(tmp_path / "acct/clinic/t.csv", TEXT)
    write_table(pl.DataFrame({"a": [1]}), tmp_path / "acct/clinic/t.parquet")
    sas = "SharedAccessSignature="
    with served(tmp_path, Blobs) as address:
        account = f"AccountName=acct;BlobEndpoint={address}/acct"
        for secret in ("AccountKey=c2VjcmV0", f"{sas}sv=1&sig=SIGNED", f"{sas}?sv=1&sig=SIGNED"):
            forget()
            monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", f"{account};{secret}")
            assert read_table("az://clinic/t.csv").rows() == ROWS
            assert read_table("az://clinic/t.parquet").rows() == [(1,)]
            with fails_with("url-unreachable", "az://clinic/none.csv", "nothing of that name"):
                read_table("az://clinic/none.csv")
        for secret, said in {
            f"{sas}sig=SWORD%3Dfish&sv=1": "does not let these credentials",
            "AccountKey=fish": "does not let these credentials read it. Log in",
            "AccountKey=SWORD!fish": "no key of Azure",
        }.items():
            forget()
            signed = account.replace("=acct;", "=other;") if "Log in" in said else account
            monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", f"{signed};{secret}")
            with pytest.raises(InputError) as caught:
                read_table("az://clinic/t.csv")
            assert caught.value.code == "url-unreachable"
            assert said in str(caught.value)
            assert "SWORD" not in str(caught.value)
            assert "fish" not in str(caught.value)


def test_the_emulator_of_azure_is_named_in_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acct/clinic").mkdir(parents=True)
    write(tmp_path / "acct/clinic/t.csv", TEXT)
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", "UseDevelopmentStorage=true;")
    with served(tmp_path, Blobs) as address:
        told = f"AccountName=acct;BlobEndpoint={address}/acct;AccountKey=c2VjcmV0".split(";")
        assert [one.partition("=")[0] in brought.EMULATOR for one in told] == [True] * 3
        here = dict(one.partition("=")[::2] for one in told)
        monkeypatch.setattr(brought, "EMULATOR", here)
        assert read_table("az://clinic/t.csv").rows() == ROWS


@pytest.mark.skipif(sys.platform != "linux", reason="the program of Azure is a script here")
def test_a_login_of_azure_is_asked_for_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acct/clinic").mkdir(parents=True)
    write(tmp_path / "acct/clinic/t.csv", TEXT)
    told = {
        "accessToken": "TOKEN",
        "expiresOn": "2099-01-01 00:00:00.000000",
        "expires_on": 4070908800,
    }
    (tmp_path / "az").write_text(f"#!/bin/sh\necho '{json.dumps(told)}'\n")
    (tmp_path / "az").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    secret, public = certified(tmp_path)
    for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(name, str(public))
    with served(tmp_path, Blobs, secret=secret) as address:
        there = f"AccountName=acct;BlobEndpoint={address}/acct"
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", there)
        assert read_table("az://clinic/t.csv").rows() == ROWS


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("AWS Error ACCESS_DENIED during HeadObject operation: No response body.", "credentials"),
        ("Azure Error: [ContainerNotFound] 404 The specified container", "nothing of that name"),
        (
            "'b/403.csv': AWS Error NO_SUCH_BUCKET during GetObject operation",
            "nothing of that name",
        ),
        ("curlCode: 7, Could not connect to server", "does not answer"),
        (
            "Azure Error: [] Fail to get a new connection for: http://127.0.0.1:9.",
            "does not answer",
        ),
        ("google::cloud::Status(PERMISSION_DENIED: no", "credentials"),
        ("'b/t.csv': AWS Error SLOW_DOWN during HeadObject operation", "the store says SLOW_DOWN"),
        ("something else ?sig=SECRET", "the store says no"),
    ],
)
def test_stores_are_quoted_in_our_words(words: str, said: str) -> None:
    why, remedy = brought._in_our_words(words)
    assert said in why
    assert "SECRET" not in why + remedy


def test_a_store_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with fails_with("url-unreachable", "s3://clinic/t.csv", "does not answer. Check its address"):
        read_table("s3://clinic/t.csv")


def test_tables_of_stores_travel_encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    open_one = "AccountName=acct;AccountKey=fish;DefaultEndpointsProtocol=http"
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", open_one)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://store.example:9000")
    for address, shown in {
        "az://clinic/t.csv": "http://acct.blob.core.windows.net would",
        "s3://clinic/t.csv": "http://store.example:9000 would",
    }.items():
        with fails_with("url", shown, "unencrypted"):
            read_table(address)


def test_stores_that_nobody_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONNECTION_STRING", "ACCOUNT_NAME", "ACCOUNT"):
        monkeypatch.delenv(f"AZURE_STORAGE_{name}", raising=False)
    with fails_with("url-unreachable", "az://box/t.csv", "AZURE_STORAGE_ACCOUNT_NAME"):
        read_table("az://box/t.csv")


def test_addresses_keep_secrets_to_themselves() -> None:
    for address, shown in {
        "https://h.example/a/t.csv?sig=SECRET#x": "https://h.example/a/t.csv",
        "s3://box/a@b.csv": "s3://box/a@b.csv",
        "https://ann:swordfish@h.example/t.csv": "https://h.example/t.csv",
    }.items():
        assert redact(address) == shown
    with fails_with("url-password", "https://h.example/t.csv is given with a user"):
        parse_url("https://ann:swordfish@h.example/t.csv")
    assert source_path("-") is source_path("https://h.example/t.csv") is None
