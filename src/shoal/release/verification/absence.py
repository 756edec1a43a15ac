"""What the missing people of a release tell, counted again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.auditing.adversaries.judging import Case
from shoal.auditing.counting import count_missing
from shoal.knowledge import Knowledge
from shoal.release.record import Record
from shoal.release.verification.files import Claim, same_figures

NOT_RECOMPUTED = "not recomputed: who is missing is in the private folder"


def check_absence(
    case: Case, known: Knowledge, certificate: Mapping[str, Any], record: Record | None
) -> Claim:
    """With the publisher's own record class by class.
    Without it, it is known only how many people are missing and how many of them carry what."""
    claimed, counts = certificate["audit"]["absence"], certificate["rows"]
    if record is not None:
        mine = count_missing(case, known, record.missing(case.table))
        return same_figures("absence", {"kept": mine.kept, "carriers": mine.carriers}, claimed)
    told = "" if counts["values_changed"] or not claimed["kept"] else _told_by_all(case)
    if told or not counts["suppressed"]:
        return Claim("absence", not told, told)
    return Claim("absence", True, NOT_RECOMPUTED)


def _told_by_all(case: Case) -> str:
    """The event that too many of all missing people carry, or an empty text."""
    table, part = case.table, case.partition
    missing = table.rows - part.published
    for number, r in enumerate(case.event_r):
        carriers = int(table.event_rows[number])
        often = part.values.times(part.copies)
        gone = carriers - int(often[table.holds(number)[part.values.code]].sum())
        above = gone * r > missing
        if case.limit == "prior":
            above &= gone * table.rows > carriers * missing
        if above:
            return f'of {missing:,} missing people {gone:,} have "{table.events[number].label}"'
    return ""
