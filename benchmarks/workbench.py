"""How fast the workbench answers: alone, beside a run, and on tables of a size that people have.

The server is a process of its own, as a user starts it, and asked as a browser asks. What a run
takes is its CPU seconds, with and without a crowd of requests; the run is that of a plan, twice.
"""

from __future__ import annotations

import http.client
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.settings import adult_frame
from shoal.data.datasets import HOSPITAL_EVENT, HOSPITAL_QI, hospital
from shoal.workbench.held import key_of
from shoal.workbench.project import Project, Source

Say = Callable[[str], None]
AT_ONCE, REPEATS, LARGE = 200, 3, 1_000_000
PATHS = ("/", "/table", "/roles", "/plan", "/run", "/runs", "/audit", "/static/page.css")
DRAFT = {
    "qi": list(HOSPITAL_QI),
    "sensitive": "diagnosis",
    "protect": [{"values": list(HOSPITAL_EVENT), "label": "grave"}],
    "r": 3,
    "min_support": 50,
}


def measure_workbench(say: Say) -> list[dict[str, Any]]:
    """One line per question, in seconds."""
    lines: list[dict[str, Any]] = []

    def keep(what: str, seconds: list[float]) -> None:
        line = {"what": what, "median": statistics.median(seconds), "longest": max(seconds)}
        lines.append({key: round(v, 3) if key != "what" else v for key, v in line.items()})  # type: ignore[call-overload]
        say(f"  {what:<52}{line['median']:8.2f} s {line['longest']:8.2f} s")

    with tempfile.TemporaryDirectory() as scratch:
        with _served(Path(scratch) / "small") as bench:
            keep("start of the program to the first page", [bench.started])
            _crowds(bench, keep)
        adult = adult_frame()
        if adult is not None:
            with _served(Path(scratch) / "adult") as bench:
                adult.write_csv(bench.project.folder / "table.csv")
                bench.choose("table.csv")
                keep("a changed role of Adult", bench.roles(bench.project.draft["qi"][0]))
        with _served(Path(scratch) / "large") as bench:
            hospital(LARGE, seed=5).write_parquet(bench.project.folder / "table.parquet")
            keep(f"choosing a table of {LARGE:,} rows", [bench.choose("table.parquet")])
            bench.project.write_draft(DRAFT)
            pages = [bench.ask("GET", path) for path in ("/table", "/roles", "/plan", "/run")]
            keep("its pages", pages)
            keep("a changed role of it", bench.roles("ward"))
    return lines


def _crowds(bench: _Bench, keep: Callable[[str, list[float]], None]) -> None:
    hospital(2_000, seed=5).write_csv(bench.project.folder / "table.csv")
    bench.project.set_source(Source("table.csv"))
    bench.project.write_draft(DRAFT)
    bench.plan()  # compiles and reads what is read once
    bench.crowd()
    keep(f"{AT_ONCE} requests at once", bench.crowd())
    alone, beside, crowds = [], [], list[float]()
    for _ in range(REPEATS):  # in turn, since a machine's speed changes
        alone.append(bench.plan())
        beside.append(bench.plan(lambda: crowds.extend(bench.crowd())))
    keep(f"{AT_ONCE} requests at once beside a run", crowds)
    keep("CPU seconds of that run, alone", alone)
    keep("CPU seconds of that run, beside the requests", beside)


@dataclass(frozen=True)
class _Bench:
    """A workbench that is a process of its own."""

    project: Project
    process: subprocess.Popen[str]
    port: int
    cookie: str
    started: float
    """Seconds from its start to the first page."""

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> float:
        """Seconds until the whole answer was there."""
        told = {"Cookie": self.cookie, **headers}
        if method == "POST":
            told["Content-Type"] = "application/x-www-form-urlencoded"
        started = time.perf_counter()
        status, _ = _asked(self.port, method, path, body, told)
        if status not in (200, 303):
            raise SystemExit(f"{method} {path} was answered with {status}.")
        return time.perf_counter() - started

    def choose(self, name: str) -> float:
        return self.ask("POST", "/table/choose", urlencode({"path": name}))

    def roles(self, column: str) -> list[float]:
        """Seconds of changed roles, as the page sends them, with what is said beside them."""
        took = []
        for role in ("unpublished", "qi") * 2:
            field = urlencode({f"role-{key_of(column)}": role})
            sent = self.ask("POST", "/roles", field, **{"HX-Request": "true"})
            took.append(sent + self.ask("GET", "/roles/known"))
        return took

    def crowd(self) -> list[float]:
        """Seconds of many requests that come at once."""
        took: list[float] = []
        paths = [PATHS[number % len(PATHS)] for number in range(AT_ONCE)]
        threads = [
            threading.Thread(target=lambda path=path: took.append(self.ask("GET", path)))
            for path in paths
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return took

    def plan(self, meanwhile: Callable[[], object] = lambda: None) -> float:
        """CPU seconds of a run that does the same each time."""
        before = _ended_children(self.process.pid)
        self.ask("POST", "/plan", urlencode({"curve": "2, 3"}))
        meanwhile()
        self.project.runs()[-1].wait()
        while (now := _ended_children(self.process.pid)) == before:
            time.sleep(0.05)
        return now - before


@contextmanager
def _served(folder: Path) -> Iterator[_Bench]:
    begun = time.perf_counter()
    command = [sys.executable, "-m", "shoal", "workbench", str(folder), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found = re.search(r"http://127.0.0.1:(\d+)(/\S+)", process.stdout.readline())
    if found is None:
        raise SystemExit("The workbench did not start.")
    port = int(found[1])
    try:
        _, cookie = _asked(port, "GET", found[2], "", {})
        _asked(port, "GET", "/", "", {"Cookie": cookie})
        started = time.perf_counter() - begun
        yield _Bench(Project.open(folder), process, port, cookie, started)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
        process.stdout.close()


def _asked(
    port: int, method: str, path: str, body: str, headers: dict[str, str]
) -> tuple[int, str]:
    """The status of an answer, and the cookie that came with it."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, (answer.getheader("set-cookie") or "").split(";")[0]


def _ended_children(process: int) -> float:
    """CPU seconds of the processes that a process started and that have ended, with theirs."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")
