"""The workbench as a user starts it: a process of its own, which can be killed."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.workbench.project import Project
from tests.cli.program import command


@dataclass(frozen=True)
class Served:
    folder: Path
    process: subprocess.Popen[str]
    entrance: str
    """The address that works once."""

    @property
    def address(self) -> str:
        return self.entrance.partition("/?")[0]

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def project(self) -> Project:
        return Project.open(self.folder)

    @property
    def said(self) -> str:
        """All that the server wrote into its terminal."""
        return said_file(self.folder).read_text("utf-8")

    def cookie(self) -> str:
        """Redeems the address."""
        answer = self._ask(self.entrance.removeprefix(self.address))
        return (answer.getheader("set-cookie") or "").split(";")[0]

    def get(self, path: str, cookie: str) -> int:
        """The status of a page."""
        return self._ask(path, {"Cookie": cookie}).status

    def _ask(self, path: str, headers: Mapping[str, str] | None = None) -> http.client.HTTPResponse:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            answer.read()
            return answer

    def kill(self) -> None:
        """Ends the server as a machine does that goes down."""
        self.process.kill()
        self.process.wait()


def said_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}-said.txt")


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Served]:
    """A workbench of a folder while the body runs."""
    with said_file(folder).open("a", encoding="utf-8") as said:
        process = subprocess.Popen(
            command("workbench", folder, "--no-browser", *options),
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found, said_file(folder).read_text("utf-8")
        try:
            yield Served(folder, process, found[0])
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)
            process.stdout.close()


def figure(process: int, name: str) -> int:
    """A figure of a process in /proc: VmHWM, VmRSS ..., in bytes."""
    status = Path(f"/proc/{process}/status").read_text("ascii")
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    assert found is not None
    return 1024 * int(found[1])


LINUX: dict[str, Any] = {
    "condition": sys.platform != "linux",
    "reason": "looks at processes in /proc",
}
