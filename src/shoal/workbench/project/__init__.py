"""A project: a folder with a table's address, a draft of its spec, and its runs.

The folder is the only state. A run is a list of shoal's own command lines that a process works off,
so that whoever started it may go away, and what is kept beside the run says how to repeat it.
"""

from __future__ import annotations

from shoal.workbench.project.commands import (
    Steps,
    anonymize_steps,
    attack_steps,
    audit_steps,
    find_steps,
    plan_steps,
    python_of,
    verify_steps,
)
from shoal.workbench.project.context import Context
from shoal.workbench.project.project import Project
from shoal.workbench.project.run import Run, RunProgress, summary
from shoal.workbench.project.source import Source

__all__ = [
    "Context",
    "Project",
    "Run",
    "RunProgress",
    "Source",
    "Steps",
    "anonymize_steps",
    "attack_steps",
    "audit_steps",
    "find_steps",
    "plan_steps",
    "python_of",
    "summary",
    "verify_steps",
]
