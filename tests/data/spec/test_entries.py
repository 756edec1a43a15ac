"""How events are written, before any column is seen."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.data.spec import Event, Spec, as_event
from shoal.data.spec.events import Compared, Listed, Matched, Ranged, parse_entry

BASE: dict[str, Any] = {"qi": ["age"], "sensitive": "bmi", "r": 2}


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        (">= 40", Compared(">=", "40")),
        ("<5", Compared("<", "5")),
        ("bmi > 40.5", Compared(">", "40.5")),
        ("290..319", Ranged("290", "319")),
        ("2020-03-01 .. 2020-05-31", Ranged("2020-03-01", "2020-05-31")),
        ("-5..-1", Ranged("-5", "-1")),
        ("@codes.txt", Listed("codes.txt")),
        (r"@C:\lists\icd.csv:Mental: all", Listed(r"C:\lists\icd.csv", "Mental: all")),
        ("HIV", None),
        ("@home", None),
        ("weight > 40", None),
        ("290-319", None),
        ("not B24", None),
    ],
)
def test_what_a_text_stands_for(text: str, entry: object) -> None:
    assert parse_entry(text, "bmi") == entry


def test_patterns_match_whole_texts_and_mean_nothing_but_their_two_signs() -> None:
    pattern = parse_entry("B[2]?.*", "x")
    assert isinstance(pattern, Matched)
    found = [
        text for text in ("B[2]4.1", "B[2]4.", "b[2]4.", "B24.1", "B[2].1") if _fits(pattern, text)
    ]
    assert found == ["B[2]4.1", "B[2]4."]


def _fits(entry: Matched, text: str) -> bool:
    return entry.pattern.fullmatch(text) is not None


@pytest.mark.parametrize(
    ("given", "values"),
    [
        (3, ("3",)),
        (3.0, ("3",)),
        (2.5, ("2.5",)),
        ([3, 5.0, "x"], ("3", "5", "x")),
        (True, ("true",)),
        (np.int64(7), ("7",)),
        (date(2020, 3, 1), ("2020-03-01",)),
        ({"values": [3, 4]}, ("3", "4")),
        ({"values": 3}, ("3",)),
    ],
)
def test_numbers_and_dates_are_values_as_they_are_shown(
    given: Any, values: tuple[str, ...]
) -> None:
    assert as_event(given).values == values


@pytest.mark.parametrize(
    ("values", "label"),
    [
        (("290..319",), "290..319"),
        (("B2*", "not B24"), "B2*|not B24"),
        (("@lists/secret/codes.txt",), "codes"),
        (("not @lists/codes.txt",), "not codes"),
        (("@icd.csv:Mental disorders", "V*"), "Mental disorders|V*"),
        (("@home",), "@home"),
    ],
)
def test_an_event_is_called_what_was_written_without_folders(
    values: tuple[str, ...], label: str
) -> None:
    assert Event(values).label == label
    assert Event(values, label="own").label == "own"


def test_entries_stay_what_they_are_in_toml() -> None:
    events = [{"values": ["290..319", "not 305*"], "label": "mental", "r": 5}, [">= 900"]]
    spec = Spec(**BASE, protect=events)
    assert '"290..319"' in spec.to_toml()
    import tomllib

    assert Spec.from_mapping(tomllib.loads(spec.to_toml())) == spec


def test_files_lie_beside_the_spec_or_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "codes.txt").write_text("a\n")
    (folder / "known.csv").write_text("x\n")
    text = """
        qi = ["age"]
        sensitive = "x"
        r = 2
        knowledge = "known.csv"
        protect = ["@codes.txt", ["not @codes.txt"], {values = ["@far.csv:node", "b"]}, 3]
    """
    (folder / "spec.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    spec = Spec.from_toml("specs/spec.toml")
    assert spec.knowledge == str(Path("specs/known.csv"))
    assert spec.protect is not None
    beside = Path("specs/codes.txt")
    assert [event.values for event in spec.protect] == [
        (f"@{beside}",),
        (f"not @{beside}",),
        ("@far.csv:node", "b"),
        ("3",),
    ]
