"""Facts: what a report says of an audit or a release, as plain data that can be kept.

They are gathered while the table is at hand and kept among a release's private records, so that
the report can be rendered again without it.
"""

from __future__ import annotations

from shoal.release.facts.contents import (
    FACTS_FILE,
    Facts,
    audit_facts,
    certificate_digest,
    keep_facts,
    load_facts,
    release_facts,
)
from shoal.release.facts.records import Repeat

__all__ = [
    "FACTS_FILE",
    "Facts",
    "Repeat",
    "audit_facts",
    "certificate_digest",
    "keep_facts",
    "load_facts",
    "release_facts",
]
