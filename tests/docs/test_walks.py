"""The walks of docs/architecture.md are those that the commands take."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import shoal
from tests.docs.blocks import DOCS

SPEC = [
    "--qi",
    "age,sex,region",
    "--sensitive",
    "diagnosis",
    "--protect",
    "HIV|Schizophrenia",
    "-r3",
]
COMMANDS = {
    "anonymize": ["table.csv", "--out", "release", *SPEC, "--seed", "1"],
    "audit": ["table.csv", "--released", "table.csv", "--key", "patient", *SPEC],
    "verify": ["release", "--table", "table.csv"],
    "attack": ["release", "--table", "table.csv", "--attacker", "likeliest"],
}
"""In this order: what is verified and attacked is made before."""
_STAGE = re.compile(r"^\d+\. ((?:`[\w.]+`(?:, )?)+)", re.MULTILINE)


def walks() -> dict[str, str]:
    """What the page says of each command."""
    page = (DOCS / "architecture.md").read_text("utf-8")
    parts = re.split(r"^\*\*`shoal (\w+)[^`]*`\*\*$", page, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the commands pass, each in a process of its own."""
    folder = tmp_path_factory.mktemp("walks")
    shoal.datasets.hospital(600, seed=2).write_csv(folder / "table.csv")
    roots = [str(Path(shoal.__file__).parents[1]), str(DOCS.parent)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(roots)}
    found = {}
    for name, arguments in COMMANDS.items():
        done = subprocess.run(
            [sys.executable, "-m", "tests.docs.walking", name, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        told = done.stderr.splitlines()
        assert told[-1:] > ["{"], done.stderr
        found[name] = json.loads(told[-1])
    return found


def is_called(name: str, call: str) -> bool:
    """Whether a call is of the function that the page names: its last word, and the words before it
    in its module or class; any engine is an Engine."""
    *where, function = name.split(".")
    *parts, last = call.replace(":", ".").split(".")
    left = iter(parts)

    def found(word: str) -> bool:
        return any(one == word or (word == "Engine" and one.endswith(word)) for one in left)

    return last == function and all(map(found, where))


def test_a_stage_is_found_by_its_words() -> None:
    assert is_called("Engine.count", "engines.polars:PolarsEngine.count")
    assert is_called("sources.read_table", "data.sources.read:read_table")
    assert not is_called("Engine.count", "groups.grouping:Grouping.count")
    assert not is_called("cli.audit", "api.audit:audit")


def test_the_page_has_a_walk_for_each_command() -> None:
    assert walks().keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_stages_are_entered_in_their_order_and_as_often_as_they_are_named(
    passed: dict[str, dict[str, Any]], name: str
) -> None:
    stages = re.findall(r"`([\w.]+)`", " ".join(_STAGE.findall(walks()[name])))
    assert len(stages) >= 5
    calls = passed[name]["functions"]
    places = {}
    for stage, times in Counter(stages).items():
        mine = [call for call in calls if is_called(stage, call)]
        assert mine, f"{stage} is not called"
        assert sum(calls[call] for call in mine) == times, f"{stage}: {mine}"
        places[stage] = min(list(calls).index(call) for call in mine)
    order = list(dict.fromkeys(stages))
    assert order == sorted(order, key=places.__getitem__)


@pytest.mark.parametrize("name", COMMANDS)
def test_rooms_are_first_entered_in_the_order_that_the_page_gives(
    passed: dict[str, dict[str, Any]], name: str
) -> None:
    told = re.search(r"^Rooms: ([\w, ]+)\.$", walks()[name], re.MULTILINE)
    assert told is not None
    assert told[1].split(", ") == passed[name]["rooms"]
