"""Who is let in, and what foreign pages, hosts and paths get."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from shoal.workbench.app import PAGES
from shoal.workbench.inside import inside
from shoal.workbench.security import POLICY
from tests.workbench.visitor import Visitor, workbench


def test_nothing_is_shown_without_the_cookie(visitor: Visitor) -> None:
    visitor.cookie = ""
    for path in ("/", "/table", "/static/page.css", "/nowhere"):
        assert visitor.get(path).status == 403
    assert visitor.post("/table/again").status == 403
    visitor.cookie = f"{visitor.keys.cookie}=guessed"
    assert visitor.get("/").status == 403


def test_a_token_opens_once(tmp_path: Path) -> None:
    with workbench(tmp_path / "project") as visitor:
        assert visitor.get("/?token=wrong").status == 403
        address = f"/?token={visitor.keys.token}"
        first = visitor.get(address)
        assert (first.status, first.headers["location"]) == (303, "/")
        told = first.headers["set-cookie"].lower()
        assert "httponly" in told
        assert "samesite=strict" in told
        assert visitor.keys.token is None
        assert visitor.get(address).status == 403
        visitor.cookie = first.headers["set-cookie"].split(";")[0]
        assert visitor.get("/").status == 200
        assert visitor.get(address).headers["location"] == "/"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", ""])
def test_a_foreign_host_is_refused(visitor: Visitor, host: str) -> None:
    assert visitor.ask("GET", "/", headers={"Host": host}).status in (400, 421)


def test_localhost_is_this_machine_too(visitor: Visitor) -> None:
    assert visitor.ask("GET", "/", headers={"Host": f"localhost:{visitor.port}"}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_what_a_foreign_page_sends_is_refused(visitor: Visitor, headers: dict[str, str]) -> None:
    assert visitor.ask("GET", "/", headers=headers).status == 403
    visitor.more = headers
    assert visitor.post("/table/again").status == 403


def test_an_address_typed_by_hand_reads_but_does_not_write(visitor: Visitor) -> None:
    visitor.more = {"Sec-Fetch-Site": "none"}
    assert visitor.get("/").status == 200
    assert visitor.post("/table/again").status == 403


def test_every_answer_has_its_policy(visitor: Visitor) -> None:
    for path in ("/", "/static/workbench.js", "/nowhere"):
        headers = visitor.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_no_page_holds_what_the_policy_forbids(visitor: Visitor) -> None:
    for where in PAGES:
        method, path = where.split(" ")
        if method == "GET" and "{" not in path:
            text = visitor.get(path).text
            for forbidden in (" style=", "<style", " onclick", "<script>", "http://", "https://"):
                assert forbidden not in text, (path, forbidden)


UP = ("../secret.csv", "..", "/etc/passwd", "uploads/../../secret.csv", "a\0b.csv", "~/x.csv")


@pytest.mark.parametrize("path", UP)
def test_paths_stay_inside_the_project(visitor: Visitor, path: str) -> None:
    (visitor.project.folder.parent / "secret.csv").write_text("a,b\n1,2\n3,4\n", "utf-8")
    answer = visitor.post("/table/choose", {"path": path})
    assert answer.status == 422
    assert visitor.project.source is None
    answer = visitor.post("/table/choose", {"database": f"duckdb:///{path}?table=t"})
    assert answer.status == 422
    assert visitor.project.source is None


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"]
)
def test_only_listed_files_are_served(visitor: Visitor, path: str) -> None:
    assert visitor.get(path).status == 404


def test_a_password_is_never_kept(visitor: Visitor) -> None:
    address = "postgresql://me:hunter2@host/db?table=people"
    answer = visitor.post("/table/choose", {"database": address})
    assert answer.status == 422
    assert "holds a password" in answer.words
    assert b"hunter2" not in (visitor.project.folder / "project.toml").read_bytes()


def test_other_methods_and_large_forms_are_refused(visitor: Visitor) -> None:
    assert visitor.ask("DELETE", "/").status == 405
    assert visitor.ask("OPTIONS", "/").status == 405
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": "99999999"}
    assert visitor.ask("POST", "/context", b"", kind).status == 413


def test_an_upload_over_the_limit_leaves_nothing(visitor: Visitor) -> None:
    answer = visitor.send("large.csv", b"a,b\n" + b"1,2\n" * 400_000)
    assert answer.status in (413, 422)
    assert "larger than the limit" in answer.words
    uploads = visitor.project.folder / "uploads"
    assert not uploads.exists() or not list(uploads.iterdir())


def test_an_upload_that_lies_about_its_length_is_cut_off(visitor: Visitor) -> None:
    head = (
        f"POST /table/upload HTTP/1.1\r\nHost: 127.0.0.1:{visitor.port}\r\n"
        f"Cookie: {visitor.cookie}\r\nTransfer-Encoding: chunked\r\n"
        "Content-Type: multipart/form-data; boundary=seam\r\n\r\n"
    )
    part = b'--seam\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    with socket.create_connection(("127.0.0.1", visitor.port), timeout=30) as line:
        line.sendall(head.encode())
        line.sendall(b"%x\r\n%s\r\n" % (len(part), part))
        try:
            for _ in range(40):
                line.sendall(b"%x\r\n%s\r\n" % (1 << 16, b"1" * (1 << 16)))
            answer = line.recv(1 << 16)
        except OSError:
            answer = b""
    assert not answer or b" 422 " in answer.split(b"\r\n")[0]
    assert [file.name for file in (visitor.project.folder / "uploads").iterdir()] == []


@pytest.mark.parametrize("other", ['theme={"a": "b,c"}', "\xe9=1", "bad name[]", "{name}=no"])
def test_cookies_of_other_programs_do_not_matter(visitor: Visitor, other: str) -> None:
    """Cookies know no ports: every program of this machine sets them for all."""
    own, strange = visitor.cookie, other.replace("{name}", visitor.keys.cookie)
    for cookies in (f"{strange}; {own}", f"{own}; {strange}"):
        visitor.cookie = cookies
        assert visitor.get("/").status == 200
    visitor.cookie = strange
    assert visitor.get("/").status == 403


def test_an_upload_that_ends_early_or_has_no_form_is_no_fault(
    visitor: Visitor, capfd: pytest.CaptureFixture[str]
) -> None:
    kind = {"Content-Type": "multipart/form-data; boundary=" + "x" * 3000}
    assert visitor.ask("POST", "/table/upload", b"--x", kind).status == 422
    with socket.create_connection(("127.0.0.1", visitor.port)) as line:
        line.sendall(
            f"POST /table/upload HTTP/1.1\r\nHost: 127.0.0.1:{visitor.port}\r\n"
            f"Cookie: {visitor.cookie}\r\nContent-Length: 5000\r\n"
            "Content-Type: multipart/form-data; boundary=seam\r\n\r\n"
            '--seam\r\nContent-Disposition: form-data; filename="a.csv"\r\n\r\na,b\n'.encode()
        )
    assert visitor.get("/").status == 200
    assert list((visitor.project.folder / "uploads").iterdir()) == []
    assert "Traceback" not in capfd.readouterr().err


def test_a_fault_in_an_upload_tells_no_value(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("".join(("Mey", "er")))

    monkeypatch.setattr("shoal.workbench.pages.table._take", fail)
    answer = visitor.send("a.csv", b"a,b\n1,2\n")
    assert answer.status == 500
    assert answer.headers["content-security-policy"] == POLICY
    said = capfd.readouterr()
    assert "Meyer" not in answer.text + said.out + said.err


def test_paths_are_no_options_and_not_endless(visitor: Visitor) -> None:
    folder = visitor.project.folder
    assert inside(folder, "--help") == "./--help"
    for path in ("x" * 300, "x/" * 600):
        assert 'id="wrong-path"' in visitor.post("/table/choose", {"path": path}).text


def test_a_database_outside_the_folder_is_refused(
    visitor: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(visitor.project.folder)
    outside = tmp_path / "outside.db"
    outside.write_bytes(b"")
    for address in (f"duckdb://{outside}?table=t", "duckdb:///../outside.db?table=t"):
        answer = visitor.post("/table/choose", {"database": address})
        assert "no place in the project" in answer.words
