"""The report: one HTML page that says what an audit found, for people who decide.

    Audit + Table (+ Release) -> Facts (plain data) -> charts (Vega-Lite) + words -> one HTML file

Two editions: *internal*, with the most exposed rows, and *public*, where nothing belongs to fewer
than five people. Facts can be kept beside a release's private records and rendered again.
"""

from __future__ import annotations

from shoal.release.facts import (
    FACTS_FILE,
    Facts,
    Repeat,
    audit_facts,
    certificate_digest,
    keep_facts,
    load_facts,
    release_facts,
)
from shoal.report.page import (
    Edition,
    render,
    render_audit,
    render_release,
    write,
)
from shoal.report.words import command_line

__all__ = [
    "FACTS_FILE",
    "Edition",
    "Facts",
    "Repeat",
    "audit_facts",
    "certificate_digest",
    "command_line",
    "keep_facts",
    "load_facts",
    "release_facts",
    "render",
    "render_audit",
    "render_release",
    "write",
]
