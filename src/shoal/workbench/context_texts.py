"""The texts of the page of what only people can say."""

from __future__ import annotations

CONTEXT = {
    "context.title": "What only people can say",
    "context.lead": "It stands in the assessment of every release of this project, marked as "
    "stated by you. What is left empty stands there as not stated.",
    "context.part.data": "The data",
    "context.part.release": "The release and its recipients",
    "context.part.threats": "Threats",
    "context.part.strength": "Strength",
    "context.part.result": "Result",
    "context.part.after": "After publication",
    "context.part.people": "People",
    "context.proposal": "shoal proposes:",
    "context.take": "Take this text as mine",
    "context.intrusions": "Let somebody who did not make the release try to find people in it.",
    "context.intrusion": "Test {n}",
    "context.reasons": "Reasons for columns that shoal proposed",
    "context.reasons.lead": "Tick those that you have read and find right. The others stand in the "
    "assessment as not confirmed.",
    "context.go": "What only people can say",
}
