"""Runs: worked off by a process of their own, stopped, killed, failed, decided on."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from pathlib import Path

import pytest

from shoal.cli.show import progress_bar
from shoal.errors import InputError
from shoal.release.stated import read_certificate
from shoal.workbench.evidence import unfitting
from shoal.workbench.project import Project, Run, Source
from shoal.workbench.project.files import read_json
from shoal.workbench.project.run import summary
from tests.workbench.project.making import new_release, wait


def test_a_run_ends_with_a_verified_release_and_the_commands_own_figures(released: Run) -> None:
    made, checked, attacked = (released.result(n) for n in (1, 2, 3))
    assert made is not None
    assert checked is not None
    certificate = read_certificate(released.folder / "release")
    assert made["published"] == certificate["rows"]["published"]
    assert made["worst_posterior"] == certificate["audit"]["worst_posterior"]
    assert checked["confirmed"] is True
    assert released.result("attack") == attacked
    assert released.result("audit") is None
    assert released.result(4) is None
    assert (released.folder / "report.html").is_file()
    assert (released.error, released.progress) == (None, None)
    table = (released.folder.parent.parent / "table.csv").read_bytes()
    held = {"sha256": hashlib.sha256(table).hexdigest(), "bytes": len(table)}
    assert released.table == held
    assert read_json(released.folder / "steps" / "1.progress.json") is not None
    with pytest.raises(InputError) as refused:
        released.start()
    assert refused.value.code == "run-started"


def test_a_run_that_is_not_robust_is_done_and_shown_with_its_verdict(project: Project) -> None:
    run = new_release(project, method="anatomy", parameters={"l": 3})
    run.start()
    wait(run)
    assert (run.state, run.error) == ("done", None)
    assert [run.exit_code(step) for step in (1, 2)] == [1, 1]
    made, checked = run.result("anonymize"), run.result("verify")
    assert made is not None
    assert checked is not None
    assert (made["robust"], made["written"]) == (False, True)
    assert (checked["confirmed"], checked["robust"]) == (True, False)
    assert read_certificate(run.folder / "release")["audit"]["robust"] is False
    told = summary(run)
    assert (told["judged"], told["robust"], told["confirmed"]) == (True, False, True)
    assert "--write-anyway" in run.commands()[1]
    assert "write_anyway" not in run.programs()[0]


def test_a_run_that_is_stopped_says_so_leaves_nothing_half_done_and_begins_again(
    project: Project,
) -> None:
    run = new_release(project)
    run.start()
    wait(run, lambda one: one.progress is not None and one.progress.words != "")
    with pytest.raises(InputError) as refused:
        run.start()
    assert refused.value.code == "run-started"
    run.stop()
    wait(run)
    assert (run.state, run.error, run.exit_code(1)) == ("stopped", None, 130)
    assert not (run.folder / "release").exists()
    assert not list(run.folder.glob(".*shoal*"))
    run.start()
    assert run.state == "running"
    wait(run)
    assert run.state == "done"


def test_a_run_whose_worker_is_killed_is_lost_with_its_command(project: Project) -> None:
    run = new_release(project)
    run.start()
    wait(run, lambda one: one.progress is not None and one.progress.words != "")
    commands = [pid for pid in _processes(run.folder) if pid != _worker(run.folder)]
    assert commands
    os.kill(_worker(run.folder), signal.SIGKILL)
    wait(run, seconds=10)
    assert run.state == "lost"
    assert (run.outcome, run.result(1), run.progress) == (None, None, None)
    assert not _processes(run.folder)


def test_a_command_that_fails_gives_its_code_and_sentence(project: Project) -> None:
    project.set_source(Source("tabel.csv"))
    run = new_release(project)
    run.start()
    wait(run)
    assert run.state == "failed"
    assert run.error is not None
    assert run.error["code"] == "file-missing"
    assert run.error["text"].startswith('There is no file "tabel.csv"')
    assert (run.exit_code(1), run.exit_code(2)) == (2, None)
    with pytest.raises(InputError) as refused:
        run.decide("approved", name="A", reason="B")
    assert refused.value.code == "decision-early"


def test_a_run_without_a_release_is_not_decided_on(project: Project) -> None:
    run = project.new_run("plan", lambda _: [["plan", "table.csv"]])
    (run.folder / "outcome.json").write_text('{"state": "done"}')
    with pytest.raises(InputError) as refused:
        run.decide("approved", name="A", reason="B")
    assert refused.value.code == "decision-kind"
    assert run.decision is None


def test_a_crash_is_no_verdict(project: Project) -> None:
    """Python ends with 1 after a traceback, as a command does that says no."""
    run = project.new_run("plan", lambda _: [["plan", "table.csv"]])
    (run.folder / "steps").mkdir()
    (run.folder / "steps" / "1.exit").write_text("1")
    (run.folder / "steps" / "1.json").write_text("")
    assert run.result(1) is None


def test_a_decision_is_kept_with_those_before_it(released: Run) -> None:
    for bad in (
        {"decision": "maybe", "name": "A", "reason": "B"},
        {"decision": "approved", "name": " ", "reason": "B"},
        {"decision": "approved", "name": "A", "reason": "B", "review": "tomorrow"},
    ):
        with pytest.raises(InputError):
            released.decide(**bad)  # type: ignore[arg-type]
    assert released.decision is None
    released.decide("refused", name="A", reason="Too soon")
    for _ in range(2):  # a form that is sent twice
        released.decide("approved", name="B", reason="Fine", review="2031-01-31")
    kept = released.decision
    assert kept is not None
    assert (kept["decision"], kept["review"]) == ("approved", "2031-01-31")
    assert [one["reason"] for one in kept["earlier"]] == ["Too soon"]
    (released.folder / "decision.json").unlink()


def _worker(folder: Path) -> int:
    (pid,) = (
        pid for pid in _processes(folder) if b"shoal.workbench.project.worker" in _arguments(pid)
    )
    return pid


def _processes(folder: Path) -> list[int]:
    """Who holds the lock of a run."""
    lock = str(folder / ".worker-lock")
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            opened = [str(one.readlink()) for one in (process / "fd").iterdir()]
        except OSError:
            continue
        if lock in opened:
            found.append(int(process.name))
    return found


def _arguments(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_progress_is_written_for_others_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 1.1, 1.5, 2.0, 3.0])
    monkeypatch.setattr("shoal.cli.show.time.monotonic", lambda: next(clock))
    monkeypatch.setenv("SHOAL_PROGRESS", str(tmp_path / "p.json"))
    with progress_bar(quiet=True) as report:
        told = []
        for step, done, total in (
            ("counting", 0, 10),
            ("counting", 1, 10),  # too soon after the one before
            ("counting", 2, 10),
            ("still counting", 5, 10),  # the same count under other words
            ("judging", 1, 4),
        ):
            report(step, done, total)
            told.append(json.loads((tmp_path / "p.json").read_text()))
    assert [(one["step"], one["done"], one["seconds"]) for one in told] == [
        ("counting", 0, 0.0),
        ("counting", 0, 0.0),
        ("counting", 2, 0.5),
        ("still counting", 5, 1.0),
        ("judging", 1, 0.0),
    ]


@pytest.mark.parametrize(
    "held",
    [
        "{}",
        "[]",
        '{"kind": "plan", "steps": [[]], "made": "", "spec": {}}',
        '{"kind": "other", "steps": [["plan"]], "made": "", "spec": {}, "source": null}',
    ],
)
def test_a_damaged_run_is_left_out_and_named(project: Project, held: str) -> None:
    folder = project.folder / "runs" / "9001"
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(held)
    try:
        assert "9001" not in [run.name for run in project.runs()]
        with pytest.raises(InputError) as told:
            project.run("9001").steps  # noqa: B018
        assert told.value.code == "run-damaged"
    finally:
        (folder / "run.json").unlink()
        folder.rmdir()


@pytest.mark.parametrize("held", ["{}", '{"state": null}', '{"state": "approved"}'])
def test_an_outcome_that_cannot_be_read_is_none(released: Run, held: str) -> None:
    path = released.folder / "outcome.json"
    kept = path.read_text()
    path.write_text(held)
    try:
        assert (released.state, released.outcome) == ("lost", None)
    finally:
        path.write_text(kept)


@pytest.mark.parametrize("held", ["[]", '{"decision": "approved"}'])
def test_a_damaged_decision_is_none(released: Run, held: str) -> None:
    path = released.folder / "decision.json"
    path.write_text(held)
    try:
        assert released.decision is None
        assert "decision.json of the run cannot be read as a decision." in unfitting(released)
    finally:
        path.unlink()
