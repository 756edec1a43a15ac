"""Paths that lead out of the project in every parameter of every route, and uploads that are far
too large."""

from __future__ import annotations

import itertools
import socket
from html.parser import HTMLParser
from pathlib import Path

import pytest

from shoal.data.datasets import hospital
from shoal.workbench.app import PAGES
from shoal.workbench.held import key_of
from shoal.workbench.project import Run
from tests.workbench.served import LINUX, Served, figure, served
from tests.workbench.visitor import Visitor

SECRET = "outside-and-secret"
OUT = (
    "../secret.csv",
    "../../secret.csv",
    "..",
    "..\\secret.csv",
    "/etc/passwd",
    "%2e%2e/secret.csv",
)
ADDRESSES = ("..", "%2e%2e", "..%2fsecret.csv", "..%5csecret.csv", "0001%00", "0001%2f..%2f..")


class Forms(HTMLParser):
    """The forms of a page: where each is sent, and the names of its fields."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, set[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        if tag == "form":
            if "hx-post" in told:
                told = {"method": "post", "action": told["hx-post"], **told}
            self.found.append((told.get("method", "get"), told.get("action", ""), set()))
        elif tag in ("input", "select", "textarea", "button") and told.get("name"):
            self.found[-1][2].add(told["name"])


@pytest.fixture
def settled(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> Visitor:
    """A project with a table and one run that nobody carries out, and a file beside it."""
    monkeypatch.setattr(Run, "start", lambda run: None)
    (visitor.project.folder.parent / "secret.csv").write_text(f"age,illness\n1,{SECRET}\n", "utf-8")
    assert visitor.send("hospital.csv", hospital(300, seed=5).write_csv().encode()).status == 303
    visitor.project.write_draft({"qi": ["age"], "sensitive": "diagnosis", "r": 2})
    assert visitor.post("/run", {"readers": "joint"}).status == 303
    return visitor


def test_no_field_of_any_form_leads_outside(settled: Visitor) -> None:
    outside = settled.project.folder.parent
    before = {path: path.read_bytes() for path in outside.iterdir() if path.is_file()}
    forms: dict[str, set[str]] = {}
    for path in (
        "/",
        "/table",
        "/roles",
        "/plan",
        "/run",
        "/runs",
        "/runs/0001",
        "/audit",
        "/context",
        f"/coarser?column={key_of('age')}",
        f"/coarser/tried?column={key_of('age')}",
    ):
        reader = Forms()
        reader.feed(settled.get(path).text)
        for method, action, fields in reader.found:
            if method == "post":
                forms.setdefault(action, set()).update(fields)
    forms["/plan/choose"] = {"r"}
    forms["/verify"] = {"release", "private"}
    forms["/runs/0001/decide"] = {"decision", "name", "reason", "review", "despite"}
    forms["/find/use"] = {"run", "setting"}
    forms["/look/like"] = {"run", "q-age"}
    forms["/look/crossed"] = {"run", "by", "also", "value"}
    forms["/changes/redo"] = {"back"}
    forms["/changes/put"] = {"back", "state"}
    routes = {where.split()[1].replace("{name}", "0001") for where in PAGES if "POST" in where}
    assert routes - set(forms) <= {"/run/same", "/runs/0001/stop", "/evidence/0001"}
    for action, fields in forms.items():
        if action.endswith("/upload"):
            continue
        usual = {"readers": "joint", "r": "2"}
        for field, given in itertools.product(sorted(fields), OUT):
            answer = settled.post(action, usual | {field: given})
            assert answer.status in (303, 404, 422, 200), (action, field, given)
            assert SECRET not in answer.text
            if "location" in answer.headers:
                assert SECRET not in settled.get(answer.headers["location"]).text
    assert {path: path.read_bytes() for path in outside.iterdir() if path.is_file()} == before
    for run in settled.project.runs():
        for step in run.steps:
            assert not [text for text in step if text == ".." or text.startswith(("../", "/"))]


@pytest.mark.parametrize(
    ("field", "given", "place"),
    [
        ("entry", "@../secret.txt", "events"),
        ("entry", "not @/etc/secret.csv:node", "events"),
        ("recode", "hierarchy=../secret.csv", "recode"),
        ("recode", "hierarchy=/etc/secret.csv; level=2", "recode"),
    ],
)
def test_files_that_a_spec_names_lie_inside(
    settled: Visitor, field: str, given: str, place: str
) -> None:
    key, before = key_of("diagnosis"), settled.project.draft
    answer = settled.post("/roles", {f"{field}-{key}": given, "do": f"add:{key}"})
    assert answer.status == 422
    found = answer.text[answer.text.index(f'id="wrong-{place}') :]
    assert "[project-path]" in found[: found.index("</p>")]
    assert settled.project.draft == before


@pytest.mark.parametrize("given", ADDRESSES)
def test_no_part_of_an_address_leads_outside(settled: Visitor, given: str) -> None:
    for where in PAGES:
        method, path = where.split()
        if "{" not in path:
            continue
        for name, file in ((given, "spec.toml"), ("0001", given)):
            address = path.replace("{name}", name).replace("{file}", file)
            answer = settled.ask(method, address, b"" if method == "POST" else None)
            if given in address:
                assert answer.status in (404, 405), (method, address)
            assert SECRET not in answer.text
    for query in (f"/compare?runs={given}", f"/?token={given}", f"/roles/known?v={given}"):
        assert settled.get(query).status in (200, 303, 404)


def test_no_name_of_a_file_leads_outside(settled: Visitor) -> None:
    for given in ("../../x.csv", "..\\x.csv", "/tmp/x.csv", "..", "a/../../x.csv", "x.csv\0.png"):
        assert settled.send(given, b"a,b\n1,2\n3,4\n").status in (303, 422)
    uploads = {path.name for path in (settled.project.folder / "uploads").iterdir()}
    assert uploads <= {"hospital.csv", "x.csv"}
    assert {path.name for path in settled.project.folder.parent.iterdir()} == {
        "project", "secret.csv"
    }  # fmt: skip


def begin(place: Served, *headers: str) -> socket.socket:
    """An upload whose file is about to come, once everything is imported."""
    cookie = place.cookie()
    for path in ("/table", "/roles", "/plan", "/run", "/runs", "/compare", "/audit", "/verify"):
        assert place.get(path, cookie) in (200, 303)
    part = '--seam\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    lines = (
        "POST /table/upload HTTP/1.1",
        f"Host: 127.0.0.1:{place.port}",
        f"Cookie: {cookie}",
        "Content-Type: multipart/form-data; boundary=seam",
        *headers,
    )
    line = socket.create_connection(("127.0.0.1", place.port), timeout=60)
    line.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    if "Transfer-Encoding: chunked" in headers:
        line.sendall(chunk(part.encode()))
    return line


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@pytest.mark.skipif(**LINUX)
def test_two_gigabytes_are_refused_before_they_come(tmp_path: Path) -> None:
    with served(tmp_path / "project", "--upload-limit", "1GB") as place:
        with begin(place, f"Content-Length: {2 * 10**9}") as line:
            answer = line.recv(1 << 16)
        assert b" 422 " in answer.split(b"\r\n")[0]
        assert figure(place.process.pid, "VmHWM") < 5 * 10**8


@pytest.mark.skipif(**LINUX)
def test_two_gigabytes_that_nobody_told_of_are_kept_nowhere(tmp_path: Path) -> None:
    with served(tmp_path / "project", "--upload-limit", "300MB") as place:
        line = begin(place, "Transfer-Encoding: chunked")
        before = figure(place.process.pid, "VmHWM")
        piece, sent = chunk(b"1,2\n" * (1 << 18)), 0
        with line:
            try:
                while sent < 2 * 10**9:
                    line.sendall(piece)
                    sent += 1 << 20
            except OSError:
                pass  # the server may close the line, or read on and keep nothing
        grown = figure(place.process.pid, "VmHWM") - before
        assert grown < 6 * 10**7
        left = [path.name for path in (tmp_path / "project/uploads").iterdir()]
        assert left == []
        assert place.said == ""
        print(f"sent {sent / 1e6:.0f} MB, {grown / 1e6:.0f} MB more in memory")
