"""The command lines and programs that do what a page does."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from shoal.project import Source, plan_steps, python_of


def same_as(steps: Sequence[Sequence[str]]) -> dict[str, Any]:
    """What a page shows of the steps that it stands for."""
    return {
        "commands": [shlex.join(["shoal", *step]) for step in steps],
        "programs": [python_of(step) for step in steps],
    }


def same_as_init(source: Source) -> dict[str, Any]:
    """The proposal of a spec from a table."""
    how = [("separator", source.separator), ("encoding", source.encoding)]
    told = [(name, value) for name, value in how if value is not None]
    options = [text for name, value in told for text in (f"--{name}", value)]
    keywords = "".join(f", {name}={value!r}" for name, value in told)
    return {
        "commands": [shlex.join(["shoal", "init", source.address, *options, "--out", "spec.toml"])],
        "programs": [
            "from pathlib import Path\n\n"
            "import shoal\nfrom shoal.propose import propose_spec\n\n"
            f"table = shoal.read_table({source.address!r}{keywords})\n"
            'Path("spec.toml").write_text(propose_spec(table).to_toml(), encoding="utf-8")\n'
        ],
    }


def same_as_plan(source: Source) -> dict[str, Any]:
    """What the draft means for the table."""
    (step,) = plan_steps("", source)
    return same_as([[text if text != "/spec.toml" else "spec.toml" for text in step]])
