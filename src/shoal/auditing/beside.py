"""What the whole table's distribution tells, judged beside the views of a table's own knowledge.

It is what somebody knows who knows no attribute of anybody, and all that is left of a view in which
too few people share any class. A group's people are all alike in it: each carries an event with the
group's share of it. As that is the mean over the group in every view, it exposes people only where
a view does, and changes no verdict; but it exposes the whole group, and all of them are counted.

That holds for limits of 1/r. Where links may be as strong as a view says beforehand, a class may be
published as one group, which tells what was known of the class, and more than the whole table does:
there this view is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.auditing.adversaries.adversary import Anybody
from shoal.auditing.adversaries.aspects import readings
from shoal.auditing.adversaries.even import Even
from shoal.auditing.adversaries.judging import Case
from shoal.auditing.seen import Lens
from shoal.knowledge import Knowledge, known_values, whole_view


def judge_beside(
    case: Case, adversaries: Sequence[Anybody], knowledge: Knowledge, even: Even | None = None
) -> list[Lens]:
    """Nothing if the whole table is among the views; knowledge from elsewhere is taken as it is.
    `even` are groups that are judged apart."""
    views = knowledge.views
    own = knowledge.of_the_table and all(view.attributes for view in views)
    if not own or case.limit == "prior":
        return []
    whole = whole_view(known_values(case.table))
    return [
        Lens(one.adversary.name, whole, one.judge_apart(even, whole, len(views)))
        for one in readings(adversaries, case)
    ]
