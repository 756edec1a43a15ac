"""Writing whole or not at all: nothing half done is ever seen."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import polars as pl
import pytest

from shoal.data.datasets import hospital
from shoal.data.sources import write_table
from shoal.data.storage import recover_folder, refuse_overlap, replace_file, replace_folder
from shoal.data.storage import swap as swap_module
from tests.data.sources.expect import fails_with
from tests.data.sources.files import PEOPLE, hidden, write


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(PEOPLE, path)
    before = path.read_bytes()
    with fails_with("output-type", '"nested"', "List(Int64)"):
        write_table(pl.DataFrame({"nested": [[1]]}), path)

    def stopped(stop: type[BaseException]) -> None:
        with replace_file(path) as new:
            new.write_text("half")
            raise stop

    for stop in (KeyboardInterrupt, ValueError):
        with pytest.raises(stop):
            stopped(stop)
    assert path.read_bytes() == before
    assert hidden(tmp_path) == []


def test_the_rights_of_a_replaced_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(PEOPLE, path)
    path.chmod(0o600)
    write_table(PEOPLE, path)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_a_full_disk_leaves_nothing(tmp_path: Path, name: str) -> None:
    script = """
        import resource, sys
        from shoal.data.datasets import hospital
        from shoal.errors import InputError
        from shoal.data.sources import write_table
        frame = hospital(20_000, 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            write_table(frame, sys.argv[1])
        except InputError as error:
            print(error.code, error)
    """
    done = run(script, tmp_path / name)
    assert done.stdout.startswith("output-failed"), done
    assert "File too large" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_really_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        write_table(PEOPLE, disk / "t.csv")
        before = (disk / "t.csv").read_bytes()
        for name in ("t.csv", "t.parquet"):
            with fails_with("output-failed", "No space left on device"):
                write_table(hospital(50_000, 1), disk / name)
        with fails_with("output-failed", "No space left"), replace_folder(disk / "out") as new:
            (new / "a").write_bytes(b"x" * 200_000)
        assert (disk / "t.csv").read_bytes() == before
        assert [entry.name for entry in disk.iterdir()] == ["t.csv"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_folders_appear_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with replace_folder(target) as new:
        (new / "sub").mkdir()
        (new / "sub" / "a.txt").write_text("1")
        assert not target.exists()
    assert (target / "sub" / "a.txt").read_text() == "1"
    with fails_with("output-exists", '"' + str(target) + '"'), replace_folder(target):
        raise AssertionError("not reached")

    def stopped(stop: type[BaseException]) -> None:
        with replace_folder(target, force=True) as new:
            (new / "a.txt").write_text("half")
            raise stop

    for stop in (KeyboardInterrupt, ValueError):
        with pytest.raises(stop):
            stopped(stop)
    assert [file.name for file in target.iterdir()] == ["sub"]
    with replace_folder(target, force=True) as new:
        (new / "b.txt").write_text("2")
    assert [file.name for file in target.iterdir()] == ["b.txt"]
    assert hidden(tmp_path) == []


def test_force_does_not_cost_a_foreign_or_a_precious_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "photos"
    target.mkdir()
    with replace_folder(target, force=True, marker="certificate.json") as new:
        (new / "holiday.jpg").write_text("")
    with (
        fails_with("output-foreign", "certificate.json"),
        replace_folder(target, force=True, marker="certificate.json"),
    ):
        raise AssertionError("not reached")
    (target / "deep").mkdir()
    monkeypatch.chdir(target / "deep")
    for precious in (".", "..", target):
        with fails_with("output-foreign"), replace_folder(precious, force=True):
            raise AssertionError("not reached")
    assert (target / "holiday.jpg").exists()


def test_the_way_without_an_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swap_module, "exchange", lambda one, other: False)
    target = tmp_path / "out"
    for text in ("1", "2"):
        with replace_folder(target, force=True) as new:
            (new / "a").write_text(text)
        assert (target / "a").read_text() == text
    assert hidden(tmp_path) == []
    target.rename(tmp_path / ".out.shoal-old-0")  # a kill between the two renames
    recover_folder(target)
    assert (target / "a").read_text() == "2"


def test_leftovers_go_unless_somebody_is_writing_them(tmp_path: Path) -> None:
    target = tmp_path / "out"
    (tmp_path / ".out.shoal-new-0").mkdir()
    write(tmp_path / ".out.shoal-new-0" / "a", "half")
    write(tmp_path / ".t.csv.shoal-new-0", "half")
    write_table(PEOPLE, tmp_path / "t.csv")
    assert hidden(tmp_path) == [".out.shoal-new-0"]
    (tmp_path / ".other.shoal-new-0").mkdir()
    with replace_folder(target) as one:
        (one / "a").write_text("one")
        with replace_folder(target) as two:
            (two / "a").write_text("two")
        assert one.exists()
        (one / "b").write_text("one")
        target.rename(tmp_path / "second")
    assert (target / "a").read_text() == "one"
    assert sorted(hidden(tmp_path)) == [".other.shoal-new-0"]


REPLACING = """
    import sys
    from pathlib import Path
    from shoal.data.storage import replace_folder, swap
    if sys.argv[2] == "renames":
        swap.exchange = lambda one, other: False
    print("ready", flush=True)
    for turn in range(1, 10_000):
        with replace_folder(sys.argv[1], force=True) as new:
            for name in range(5):
                (new / f"{name}.txt").write_text(str(turn) * 2000)
        print(turn, flush=True)
"""


@pytest.mark.parametrize("way", ["exchange", "renames"])
def test_a_kill_at_any_moment_leaves_the_old_or_the_new(tmp_path: Path, way: str) -> None:
    chance = random.Random(1)
    for attempt in range(8):
        fresh = attempt % 4 == 0
        target = tmp_path / f"out-{attempt // 4}"
        with start(REPLACING, target, way) as process:
            assert process.stdout is not None
            for _ in range(1 if fresh else 2):
                process.stdout.readline()
            time.sleep(chance.random() * 0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
        recover_folder(target)
        if target.exists() or not fresh:
            texts = {file.read_text() for file in target.iterdir()}
            assert (len(texts), len(list(target.iterdir()))) == (1, 5), attempt
    for number in range(2):
        with replace_folder(tmp_path / f"out-{number}", force=True) as new:
            (new / "last").write_text("")
    assert hidden(tmp_path) == []


def test_outputs_and_inputs_do_not_lie_in_one_another(tmp_path: Path) -> None:
    data = write(tmp_path / "data.csv", "a\n1\n")
    with fails_with("output-input", "is the input itself"):
        refuse_overlap(tmp_path / "sub" / ".." / "data.csv", data)
    with fails_with("output-input", "lies inside the input"):
        refuse_overlap(tmp_path / "out.csv", tmp_path)
    with fails_with("output-input", "lies inside the output"):
        refuse_overlap(tmp_path, data)
    with fails_with("output-input", "is the input itself"):
        refuse_overlap(data, f"duckdb:///{data}?table=t")
    refuse_overlap(tmp_path / "out.csv", data)
    refuse_overlap(Path.cwd(), "postgresql://ann@h/db?table=t")


def test_outputs_that_cannot_be(tmp_path: Path) -> None:
    with fails_with("output-place", "nowhere"):
        write_table(PEOPLE, tmp_path / "nowhere" / "t.csv")
    with fails_with("output-place", "nowhere"), replace_folder(tmp_path / "nowhere" / "out"):
        raise AssertionError("not reached")
    (tmp_path / "t.csv").mkdir()
    with fails_with("output-place", "t.csv"):
        write_table(PEOPLE, tmp_path / "t.csv")
    with fails_with("output-place"), replace_folder(write(tmp_path / "file", "x"), force=True):
        raise AssertionError("not reached")
    with fails_with("file-kind", ".csv"):
        write_table(PEOPLE, tmp_path / "t.xyz")
    for name in ("t.xlsx", "t.jsonl", "t.sav", "t.zip", "t.csv.zst", "t.parquet.gz"):
        with fails_with("output-form", name, ".csv"):
            write_table(PEOPLE, tmp_path / name)
        assert not (tmp_path / name).exists()


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
