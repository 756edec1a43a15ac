"""The evidence file of a run: one printable page for whoever has to answer for a release.

It says what was computed, and of what was not computed that it was not. What only a person can
state, such as the purpose, is marked as stated by a person.
"""

from __future__ import annotations

from shoal.workbench.evidence.contents import Evidence, gather
from shoal.workbench.evidence.integrity import unfitting
from shoal.workbench.evidence.page import EVIDENCE_FILE, evidence_page, write_evidence

__all__ = ["EVIDENCE_FILE", "Evidence", "evidence_page", "gather", "unfitting", "write_evidence"]
