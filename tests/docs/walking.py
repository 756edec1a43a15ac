"""A command run under a profile: which functions of shoal are called, in order, by their rooms.

python -m tests.docs.walking anonymize table.csv ...     prints what was passed, as JSON
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import typer.main

import shoal

HERE = Path(shoal.__file__).parent
COMMON = tuple(path.stem for path in HERE.glob("*.py"))
"""Rooms that every other one makes use of, without going there."""


class Walk:
    """Calls as they come, without those that importing a module makes."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._importing = 0
        self._names: dict[Any, str | None] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            self._importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not self._importing:
            if code not in self._names:
                self._names[code] = _named(code.co_filename, code.co_qualname)
            name = self._names[code]
            if name is not None:
                self.calls.append(name)

    def passed(self) -> dict[str, Any]:
        """Functions by their first call and how often, and how rooms were passed."""
        rooms = [name.split(".")[0] for name in self.calls]
        changes = sum(one != other for one, other in itertools.pairwise(rooms))
        counts: dict[str, int] = {}
        for name in self.calls:
            counts[name] = counts.get(name, 0) + 1
        return {
            "functions": counts,
            "rooms": list(dict.fromkeys(rooms)),
            "modules": len({name.split(":")[0] for name in counts}),
            "changes": changes,
        }


def _named(file: str, name: str) -> str | None:
    """room.module:function, of a function in a room of shoal."""
    path = Path(file)
    if not path.is_relative_to(HERE) or name.rpartition(".")[2].startswith("<"):
        return None
    parts = path.relative_to(HERE).with_suffix("").parts
    return None if parts[0] in COMMON else f"{'.'.join(parts)}:{name}"


def main(arguments: list[str]) -> None:
    """Runs a command, and prints what it passed on the error stream."""
    from shoal.cli import app

    typer.main.get_command(app).commands[arguments[0]]  # type: ignore[attr-defined]  # its options
    walk = Walk()
    sys.argv = ["shoal", *arguments]
    threading.setprofile(walk)  # attackers try at once
    sys.setprofile(walk)
    try:
        app(standalone_mode=False)
    finally:
        sys.setprofile(None)
    print(json.dumps(walk.passed()), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
