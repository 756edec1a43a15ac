"""`shoal workbench` as a process: its address, one server for a project, and its end."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from shoal.workbench.app import import_pages
from shoal.workbench.project import Project
from tests.cli.program import shoal_

READY = re.compile(r"Open http://127\.0\.0\.1:(\d+)/\?token=(\S+)")


@contextmanager
def started(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    """The program with a project, its port and its token."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "shoal", "workbench", str(folder), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = READY.match(line)
        assert found is not None, line + process.stdout.read()
        yield process, int(found[1]), found[2]
    finally:
        process.kill()
        process.communicate()


def ask(port: int, path: str, cookie: str = "") -> http.client.HTTPResponse:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
        answer = connection.getresponse()
        answer.read()
        return answer


def enter(port: int, token: str) -> str:
    cookie = ask(port, f"/?token={token}").getheader("set-cookie")
    assert cookie is not None
    return cookie.split(";")[0]


def test_a_second_server_is_told_of_the_first(tmp_path: Path) -> None:
    with started(tmp_path / "new") as (process, port, token):
        cookie = enter(port, token)
        assert ask(port, "/", cookie).status == 200
        second = shoal_("workbench", tmp_path / "new", "--no-browser")
        assert second.returncode == 2
        assert "[project-held]" in second.stderr
        assert f"http://127.0.0.1:{port}" in second.stderr
        assert token not in second.stderr
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) in (0, 130, -signal.SIGINT)


def test_nothing_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    with started(folder) as (process, port, token):
        enter(port, token)
        Project.open(folder).state(purpose="research")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with started(folder) as (_, port, token):
        assert ask(port, "/", enter(port, token)).status == 200
        assert Project.open(folder).statement == {"purpose": "research"}


def test_only_this_machine_is_listened_to(tmp_path: Path) -> None:
    with started(tmp_path / "project") as (process, port, _):
        table = Path(f"/proc/{process.pid}/net/tcp").read_text("ascii")
        mine = [line.split()[1] for line in table.splitlines() if f":{port:04X} " in line]
        assert f"0100007F:{port:04X}" in mine
        assert not [one for one in mine if one.startswith("00000000:")]


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with started(tmp_path / "one") as (_, port, _token):
        other = shoal_("workbench", tmp_path / "two", "--no-browser", "--port", port)
        assert other.returncode == 2
        assert "[port]" in other.stderr


def test_a_first_page_needs_no_table_library() -> None:
    """What makes a program slow to start is imported once the address is told."""
    program = (
        "import sys, shoal.cli, shoal.cli.project, shoal.workbench.server\n"
        "import shoal.workbench.pages.home\n"
        "print(*({'polars', 'numpy', 'numba', 'scipy', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"


def test_every_page_that_is_named_is_there() -> None:
    import_pages()
