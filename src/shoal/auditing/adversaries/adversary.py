"""Adversaries: how a reader of a release turns what a group publishes into posteriors.

Most adversaries reason with one view at a time. The *joint* one weighs a possible world by the
probability of every value in it (equations 1 to 3 of the paper); the *binary* one tells only an
event from the rest. Neither contains the other: they weigh different odds. The one of *all views*
(all_views.py) reads the release as a whole.

To add one: give it a `name`, a sentence on how it reasons, and `judge`; subclass `GroupReader` if
it answers group by group in plain NumPy. Then hand an instance to `audit` or `anonymize`, or
`register` it under its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeGuard

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.auditing.adversaries.all_views import AllViews
from shoal.auditing.adversaries.judging import Case, Judgement, judge_groups
from shoal.auditing.adversaries.kernels import judge as kernels
from shoal.data.spec import Spec
from shoal.errors import InputError, unknown
from shoal.knowledge import BinaryReader, JointReader, Knowledge, Reader, View, with_pool


class Adversary(Reader, Protocol):
    """A reader of releases."""

    @property
    def reasoning(self) -> str:
        """How this adversary reasons, as a sentence for certificates and reports."""
        ...

    def judge(self, case: Case, view: View, number: int) -> Judgement:
        """The posteriors of everybody in groups that hold an event, in the `number`th view: exact,
        bounds, or estimates that may call a breach but never call a group safe."""
        ...


class WholeReader(Protocol):
    """A reader of releases who takes all groups and all views at once."""

    @property
    def name(self) -> str: ...

    @property
    def reasoning(self) -> str:
        """How this adversary reasons, as a sentence for certificates and reports."""
        ...

    def can_judge(self, knowledge: Knowledge) -> bool:
        """Whether what is known is of a kind that this adversary can use."""
        ...

    def judge_whole(self, case: Case, knowledge: Knowledge) -> tuple[View, Judgement]:
        """What was known of everybody beforehand, as a view, and everybody's posteriors."""
        ...


Anybody = Adversary | WholeReader


def reads_whole(one: Anybody) -> TypeGuard[WholeReader]:
    """Whether an adversary takes all groups and all views at once."""
    return hasattr(one, "judge_whole")


def by_view(adversaries: Sequence[Anybody]) -> list[Adversary]:
    """Those who take one view at a time."""
    return [one for one in adversaries if not reads_whole(one)]  # type: ignore[misc]


class Joint(JointReader):
    """The adversary of the paper's definition: uses every published value."""

    reasoning = "weighs every way to hand the published values of a group out to its people"

    def judge(self, case: Case, view: View, number: int) -> Judgement:
        return judge_groups(case, view, number, by_value=True)


class Binary(BinaryReader):
    """The adversary of Theorem 1: tells one event from the rest, and is always exact."""

    reasoning = "weighs a protected value against everything else, and makes no use of other values"

    def judge(self, case: Case, view: View, number: int) -> Judgement:
        return judge_groups(case, view, number, by_value=False)


class Together(Joint):
    """The joint reader of the combinations of several sensitive columns."""

    name = "together"
    reasoning = "weighs the combinations of all sensitive columns by their joint distribution"


class SeenGroup(NamedTuple):
    """One group as an adversary sees it in one view."""

    chances: Floats
    """distributions x values: of each kind of person in the group, the chance of each value."""
    people: Ints
    """How many people of each kind there are."""
    counts: Ints
    """How often each value is published."""
    event: Ints
    """The event of each value (a column of the answer), or -1."""
    events: int


class GroupReader(JointReader):
    """An adversary that answers group by group: only `posterior` has to be written."""

    name = ""
    reasoning = ""

    def posterior(self, group: SeenGroup) -> Floats:
        """kinds of people x events: the chance that such a person carries each event."""
        raise NotImplementedError

    def _checked(self, answer: object, shape: tuple[int, int]) -> Floats:
        posterior = np.ascontiguousarray(answer, np.float64)
        if posterior.shape != shape or not ((posterior >= 0) & (posterior <= 1)).all():
            raise InputError(
                "adversary-answer",
                f"The adversary {self.name} answers something that is no probability for each of "
                f"{shape[0]} signatures and {shape[1]} events.",
                "Let posterior return an array of that shape with numbers from 0 to 1.",
            )
        return posterior

    def judge(self, case: Case, view: View, number: int) -> Judgement:
        part, table = case.partition, case.table
        distributions = with_pool(view, table)
        value_event = table.shown_event
        record = kernels.empty_record(part.groups, len(part.signature), len(case.event_r))
        groups, known = case.arrays(view, distributions)
        slot = np.full(len(distributions), -1, np.int32)
        judged = 0
        for group in groups.holders:
            pairs = part.pairs.stretch(group)
            held = part.values.stretch(group)
            values = part.values.code[held]
            chances, people, place = kernels.collect(
                part.signature[pairs],
                part.pairs.count[pairs],
                values,
                view.index,
                distributions,
                slot,
            )
            events, column = kernels.event_columns(values, value_event)
            counts = part.values.count[held].astype(np.int64)
            seen = SeenGroup(chances, people, counts, column, len(events))
            posterior = self._checked(self.posterior(seen), (len(people), len(events)))
            compared = posterior + kernels.TOLERANCE
            breach = case.event_r[events] * compared > 1.0
            answer = kernels.Answer(place, events, posterior, breach, compared)
            kernels.write_down(group, answer, groups, known, record)
            judged += len(events) * int(part.copies[group])
        return Judgement.of_record(case, record, counted=(judged, 0, 0))


_known: dict[str, Anybody] = {one.name: one for one in (Joint(), Binary(), AllViews(), Together())}
_OWN = tuple(_known)


def register(adversary: Anybody) -> Anybody:
    """Makes an adversary known by its name, for this program."""
    if adversary.name in _OWN or not adversary.name:
        raise InputError(
            "adversary-name", f'The name "{adversary.name}" is taken.', "Choose another name."
        )
    _known[adversary.name] = adversary
    return adversary


BOTH = ("joint", "binary")
"""Those who take one view at a time, and whom ART's search answers."""
USUAL = (*BOTH, "all-views")
"""Who judges unless the caller says otherwise; whoever takes all views together, as far as what is
known can be counted, and where events of one sensitive column are named: their groups can be joined
until all counts together tell little of anybody."""
AdversaryLike = str | Anybody
Adversaries = AdversaryLike | Sequence[AdversaryLike]


def as_adversaries(given: Adversaries) -> tuple[Anybody, ...]:
    """The adversaries that a caller names, or hands over; each once."""
    several = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    adversaries = {one.name: one for one in map(_as_adversary, several)}
    if not adversaries:
        raise InputError("adversary", "No adversary is named.", "Name at least one.")
    return tuple(adversaries.values())


def judging(given: Adversaries, knowledge: Knowledge, spec: Spec) -> tuple[Anybody, ...]:
    """The adversaries that a caller names; of the usual ones those who fit the knowledge and
    spec."""
    adversaries = as_adversaries(given)
    if given is not USUAL:
        return adversaries
    named = spec.protect is not None and len(spec.sensitive_columns) == 1
    return tuple(
        one for one in adversaries if not reads_whole(one) or (named and one.can_judge(knowledge))
    )


def _as_adversary(given: AdversaryLike) -> Anybody:
    if not isinstance(given, str):
        judges = hasattr(given, "judge") or hasattr(given, "judge_whole")
        if isinstance(given, type) or not judges or not hasattr(given, "name"):
            raise InputError(
                "adversary",
                f"{given!r} is no adversary.",
                "Give a name, or an object with a name and a method judge.",
            )
        return given
    if given not in _known:
        raise unknown("adversary", f'There is no adversary "{given}"', given, _known)
    return _known[given]
