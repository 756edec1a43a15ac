"""Several folders replaced as one: all of them or none, whatever fails."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from shoal.data.storage import Place, moves, recover_folder, replace_folders, swap
from shoal.data.storage.hidden import notice_of
from tests.data.sources.expect import fails_with
from tests.data.sources.files import hidden, write


@pytest.fixture
def places(tmp_path: Path) -> list[Place]:
    """In folders of their own."""
    (tmp_path / "inside").mkdir()
    return [Place(tmp_path / "out"), Place(tmp_path / "inside" / "own")]


def put(places: Sequence[Place], text: str) -> None:
    with replace_folders(places, force=True) as news:
        for new in news:
            (new / "a").write_text(text)


def texts(places: Sequence[Place]) -> list[str | None]:
    files = [Path(place.path) / "a" for place in places]
    return [file.read_text() if file.exists() else None for file in files]


def left(tmp_path: Path) -> list[str]:
    return [*hidden(tmp_path), *hidden(tmp_path / "inside")]


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("stop", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("late", [True, False])
def test_a_move_that_fails_undoes_the_other(
    tmp_path: Path,
    places: list[Place],
    monkeypatch: pytest.MonkeyPatch,
    old: bool,
    exchanges: bool,
    stop: type[BaseException],
    late: bool,
) -> None:
    if old:
        put(places, "1")
    before = texts(places)
    if not exchanges:
        monkeypatch.setattr(swap, "exchange", lambda one, other: False)

    def fails(new: Path, target: Path) -> None:
        if target.name == "own" and late:
            swap.swap(new, target)
        if target.name == "own":
            monkeypatch.undo()
            raise stop
        swap.swap(new, target)

    monkeypatch.setattr(moves, "swap", fails)
    with pytest.raises((stop, moves.InputError)):
        put(places, "2")
    assert texts(places) == before
    assert left(tmp_path) == []
    put(places, "3")
    assert texts(places) == ["3", "3"]
    assert left(tmp_path) == []


def kill(places: Sequence[Place], text: str, at: str) -> None:
    """Another process, killed before the folder of that name is moved."""
    script = f"""
import os, signal, sys
from pathlib import Path
from shoal.data.storage import Place, moves, replace_folders
swap = moves.swap
def move(new, target):
    if target.name == "{at}":
        os.kill(os.getpid(), signal.SIGKILL)
    swap(new, target)
moves.swap = move
with replace_folders([Place(path) for path in sys.argv[1:]], force=True) as news:
    for new in news:
        (new / "a").write_text("{text}")
"""
    paths = [str(place.path) for place in places]
    done = subprocess.run([sys.executable, "-c", script, *paths], check=False, timeout=60)
    assert done.returncode == -9


@pytest.mark.parametrize("asked", [0, 1])
def test_whoever_comes_next_makes_the_moves(
    tmp_path: Path, places: list[Place], asked: int
) -> None:
    put(places, "1")
    kill(places, "2", "own")
    assert texts(places) == ["2", "1"]
    recover_folder(places[asked].path)
    assert texts(places) == ["2", "2"]
    put(places, "3")
    assert left(tmp_path) == []


def test_a_run_that_replaces_one_of_them_makes_the_moves_first(
    tmp_path: Path, places: list[Place]
) -> None:
    kill(places, "1", "own")
    other = [Place(tmp_path / "other"), places[1]]
    put(other, "2")
    assert texts([places[0], *other]) == ["1", "2", "2"]
    assert left(tmp_path) == []


def test_without_one_of_the_new_folders_the_others_are_not_moved(
    tmp_path: Path, places: list[Place]
) -> None:
    put(places, "1")
    kill(places, "2", "out")
    assert texts(places) == ["1", "1"]
    (new,) = [name for name in hidden(tmp_path / "inside") if "-new-" in name]
    (tmp_path / "inside" / new).rename(tmp_path / "inside" / "kept")
    recover_folder(places[0].path)
    assert texts(places) == ["1", "1"]
    put(places, "3")
    assert left(tmp_path) == []


def test_a_notice_that_says_nothing_moves_nothing(tmp_path: Path) -> None:
    for folder in ("out", "own", "a", "b"):
        (tmp_path / folder).mkdir()
    nonsense = [[], {}, 7, {"b": "x"}, {".a.shoal-new-1": "x"}, {".shoal-new-1": "x", "b": ""}]
    for text in ["", "{", "[" * 100_000, *map(json.dumps, nonsense)]:
        write(notice_of(tmp_path / "out"), text)
        with fails_with("moves-unfinished", ".out.shoal-moves"):
            recover_folder(tmp_path / "out")
        with suppress(moves.InputError):
            put([Place(tmp_path / "out")], "1")
        assert not any((tmp_path / "out").iterdir())


def test_what_cannot_be_finished_is_one_sentence(
    places: list[Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    kill(places, "1", "out")

    def denied(new: Path, target: Path) -> None:
        raise PermissionError(13, "Permission denied", str(target))

    monkeypatch.setattr(moves, "swap", denied)
    with fails_with("moves-unfinished", "Permission denied"):
        recover_folder(places[0].path)
    monkeypatch.undo()
    recover_folder(places[0].path)
    assert texts(places) == ["1", "1"]
