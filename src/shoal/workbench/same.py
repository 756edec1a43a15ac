"""The command lines and programs that do what a page does."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from shoal.workbench.project import Run, Source, python_of


def same_as(steps: Sequence[Sequence[str]]) -> dict[str, Any]:
    """What a page shows of the steps that it stands for."""
    return {
        "commands": [shlex.join(["shoal", *step]) for step in steps],
        "programs": [python_of(step) for step in steps],
    }


def same_as_init(source: Source) -> dict[str, Any]:
    """The proposal of a spec from a table."""
    told = [(name, str(value)) for name, value in source.reading.items() if value is not None]
    options = [text for name, value in told for text in (f"--{name}", value)]
    keywords = "".join(f", {name}={value!r}" for name, value in told)
    return {
        "commands": [shlex.join(["shoal", "init", source.address, *options, "--out", "spec.toml"])],
        "programs": [
            "from pathlib import Path\n\n"
            "from shoal.data.sources import read_codebook, read_table\n"
            "from shoal.planning.propose import propose_spec\n\n"
            f"table = read_table({source.address!r}{keywords})\n"
            f"codebook = read_codebook({source.address!r}{keywords})\n"
            "text = propose_spec(table, codebook).to_toml()\n"
            'Path("spec.toml").write_text(text, encoding="utf-8")\n'
        ],
    }


def same_as_run(run: Run) -> dict[str, Any]:
    """A run's own commands, and where it made a release what is kept on that."""
    commands, programs = run.commands(), run.programs()
    if run.kind == "anonymize":
        where = f"runs/{run.name}"
        commands += [shlex.join(["shoal", *_decision(run, where)])] if run.decision else []
        commands.append(shlex.join(["shoal", "evidence", where]))
        programs.append(
            f"from shoal.workbench.evidence import write_evidence\n\nwrite_evidence({where!r})\n"
        )
    return {"commands": commands, "programs": programs}


def _decision(run: Run, where: str) -> list[str]:
    told = run.decision or {}
    word = "--approve" if told["decision"] == "approved" else "--refuse"
    review = ["--review", told["review"]] if told.get("review") else []
    despite = ["--despite", told["despite"]] if told.get("despite") else []
    said = ["--name", told["name"], "--reason", told["reason"]]
    return ["decide", where, word, *said, *despite, *review]


def same_as_runs() -> dict[str, Any]:
    """What became of all runs."""
    return {
        "commands": ["shoal runs ."],
        "programs": [
            "from shoal.workbench.project import Project, summary\n\n"
            'found = [summary(run) for run in Project.open(".").runs()]\n'
        ],
    }


def same_as_statement(statement: dict[str, str]) -> dict[str, Any]:
    """What a person states of the release."""
    told = ", ".join(f"{name}={text!r}" for name, text in statement.items())
    options = [f"--{name.replace('_', '-')}={text}" for name, text in statement.items()]
    return {
        "commands": [shlex.join(["shoal", "state", ".", *options])],
        "programs": [
            f'from shoal.workbench.project import Project\n\nProject.open(".").state({told})\n'
        ],
    }
