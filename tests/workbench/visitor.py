"""A workbench in a thread, and somebody who asks it things as a browser does."""

from __future__ import annotations

import http.client
import re
import socket
import threading
import time
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

from shoal.workbench.app import make_app
from shoal.workbench.bench import Bench
from shoal.workbench.project import Project
from shoal.workbench.security import Keys
from shoal.workbench.server import server

Pairs = Sequence[tuple[str, str]] | dict[str, str]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def words(self) -> str:
        """What a reader sees: no tags, one space between words."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.text)).split())


@dataclass
class Visitor:
    port: int
    keys: Keys
    project: Project
    bench: Bench
    cookie: str = ""
    more: dict[str, str] = field(default_factory=dict)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        told = {"Cookie": self.cookie} if self.cookie else {}
        try:
            connection.request(method, path, body, {**told, **self.more, **(headers or {})})
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, named, response.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, fields: Pairs = ()) -> Answer:
        body = urllib.parse.urlencode(fields).encode()
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask("POST", path, body, kind)

    def follow(self, path: str, fields: Pairs = ()) -> Answer:
        """Posts a form, and looks at where that leads."""
        answer = self.post(path, fields)
        assert answer.status == 303, (answer.status, answer.words)
        return self.get(answer.headers["location"].partition("#")[0])

    def send(self, name: str, content: bytes, to: str = "table") -> Answer:
        """Sends a file as a page does."""
        head = (
            '--seam\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{name}"\r\nContent-Type: text/csv\r\n\r\n'
        )
        body = head.encode() + content + b"\r\n--seam--\r\n"
        kind = {"Content-Type": "multipart/form-data; boundary=seam"}
        return self.ask("POST", f"/{to}/upload", body, kind)

    def enter(self) -> None:
        answer = self.get(f"/?token={self.keys.token}")
        assert answer.status == 303
        self.cookie = answer.headers["set-cookie"].split(";")[0]


@contextmanager
def workbench(folder: Path, *, upload_limit: int = 10**7) -> Iterator[Visitor]:
    """A workbench of a folder that answers while the body runs."""
    project = Project.open(folder, create=True)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    keys = Keys(listener.getsockname()[1])
    bench = Bench(project, upload_limit)
    serving = server(make_app(bench, keys))
    thread = threading.Thread(target=serving.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not serving.started:
            time.sleep(0.01)
        yield Visitor(keys.port, keys, project, bench)
    finally:
        serving.should_exit = True
        thread.join(timeout=20)
        listener.close()
