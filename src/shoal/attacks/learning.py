"""Learning from groups whose carriers are known to name the carriers of others.

The logit chooses among the suspects of a question: a softmax over them of a linear score, fitted by
maximum likelihood with a ridge, whose strength is chosen on questions held out. A question with
several carriers counts each of them in equal parts. Gradient boosting, where
scikit-learn is installed, is a second opinion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools, Floats, Ints, Singles
from shoal.attacks.lineup import Lineup
from shoal.groups.ragged import Ragged
from shoal.memory import allowed_memory

# Boosted trees of scikit-learn, which is an extra: ask first whether it is here.

MOST_ROWS = 300_000
"""Of more people so many are drawn."""
BYTES, SHARES = 13, 4
"""What a number takes while trees grow (here, in a copy, as a bin), and one part of so many of
memory is what they may take."""
BLOCK = 1 << 13
BINS = 63
"""Numbers are told apart in so many steps: ranks within groups need no more, and 255 take a third
more time."""


def can_grow() -> bool:
    """Whether scikit-learn is installed."""
    return find_spec("sklearn") is not None


def grown(design: NDArray[Any], outcome: Bools, people: Ints, rng: np.random.Generator) -> Any:
    """A classifier fitted to so many people of each line; `design` is as many lines, or those of
    several outcomes once. One thread: several wait for each other
    more than they work on tables of this size, and sums come out the same everywhere."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(
        max_iter=120,
        learning_rate=0.1,
        max_leaf_nodes=15,
        max_bins=BINS,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=int(rng.integers(2**31)),
    )
    total = int(people.sum())
    most = min(MOST_ROWS, allowed_memory() // (SHARES * BYTES * design.shape[1]))
    if total > most:
        people = rng.multinomial(most, people / total)
    # Each person by themselves: with weights scikit-learn takes ten times as long.
    row = np.repeat(np.arange(len(people)), people)
    with threadpool_limits(1, user_api="openmp"):
        return model.fit(design[row % len(design)], outcome[row])


def scored(model: Any, design: Singles) -> Floats:
    """What a classifier makes of some people, a block of them after the other: scikit-learn copies
    what it is given."""
    blocks = [design[first : first + BLOCK] for first in range(0, len(design), BLOCK)]
    told = [np.asarray(model.decision_function(block), np.float64) for block in blocks]
    return np.concatenate([*told, np.zeros(0)])


Features = Mapping[str, Floats]
Practice = Sequence[tuple[Lineup, Features]]
"""Line-ups to learn from."""
Scorer = Callable[[Singles], Floats]


class Lesson(NamedTuple):
    """Suspects whose carriers are known."""

    design: Singles
    """suspects x features."""
    size: Ints
    """How many suspects each question has."""
    people: Ints
    """How many people each suspect stands for."""
    carrying: Ints
    """How many of these carry."""

    def only(self, questions: Bools) -> Lesson:
        """Some of the questions."""
        rows = np.repeat(questions, self.size)
        return Lesson(
            self.design[rows], self.size[questions], self.people[rows], self.carrying[rows]
        )


Learner = Callable[[Lesson, np.random.Generator], Scorer]
"""From people whose carriers are known to what scores others."""
RIDGES = (1000.0, 100.0, 10.0)
ROUNDS = 60
FARTHEST = 4.0
FLAT = 1e-9


def learners() -> dict[str, Learner]:
    """By name; boosting only where scikit-learn is installed."""
    found: dict[str, Learner] = {"logit": logit}
    if can_grow():
        found["boosting"] = boosting
    return found


def from_other_half(
    lineup: Lineup, features: Features, learner: Learner, rng: np.random.Generator
) -> Floats:
    """A score for every suspect, learnt from the half of the questions that it is not in."""
    design = standing_out(lineup, features)
    half = _half(lineup.questions, rng)
    scores = np.zeros(len(design))
    for mine in (half, ~half):
        asked = mine[lineup.question]
        if asked.all() or not asked.any():
            continue  # one question has no other half
        scores[asked] = learner(_lesson(lineup, design).only(~mine), rng)(design[asked])
    return scores


def from_practice(
    lineup: Lineup,
    features: Features,
    practice: Practice,
    learner: Learner,
    rng: np.random.Generator,
) -> Floats:
    """A score for every suspect, learnt from other line-ups, by the features that all have."""
    shared = [name for name in features if all(name in theirs for _, theirs in practice)]
    lessons = [_lesson(one, standing_out(one, _only(theirs, shared))) for one, theirs in practice]
    scorer = learner(Lesson(*(np.concatenate(part) for part in zip(*lessons, strict=True))), rng)
    return scorer(standing_out(lineup, _only(features, shared)))


def _lesson(lineup: Lineup, design: Singles) -> Lesson:
    return Lesson(design, lineup.lengths, lineup.people, lineup.carrying)


def standing_out(lineup: Lineup, features: Features) -> Singles:
    """suspects x (two per feature): standardised within the question, and as a rank in it."""
    design = np.empty((len(lineup.signature), 2 * len(features)), np.float32)
    for i, numbers in enumerate(features.values()):
        design[:, 2 * i] = _standardised(lineup, numbers)
        design[:, 2 * i + 1] = ranks(lineup, numbers)
    return design


def ranks(lineup: Lineup, numbers: Floats) -> Floats:
    """From -1 to 1 within the question; equals share the rank in their middle."""
    order = np.lexsort((numbers, lineup.question))
    ordered, question = numbers[order], lineup.question[order]
    fresh = np.append(True, (np.diff(ordered) != 0) | (np.diff(question) != 0))
    first = np.flatnonzero(fresh)
    last = np.append(first[1:], len(order)) - 1
    middle = ((first + last) / 2)[np.cumsum(fresh) - 1] - lineup.start[question]
    others = lineup.lengths[question] - 1
    found = np.empty(len(numbers))
    found[order] = np.where(others > 0, 2 * middle / np.maximum(1, others) - 1, 0.0)
    return found


def logit(lesson: Lesson, rng: np.random.Generator) -> Scorer:
    """The conditional logit on features and their squares."""
    # Where values are changed, some questions have no carrier at all, and decide nothing.
    decided = Ragged.of_lengths(lesson.size).summed(lesson.carrying) > 0
    taught = lesson._replace(design=_bent(lesson.design)).only(decided)
    questions = len(taught.size)
    held_out = _half(questions, rng)
    weights, losses, path = np.zeros(taught.design.shape[1]), [], []
    for ridge in RIDGES if 0 < held_out.sum() < questions else RIDGES[:1]:
        weights = _fit(taught.only(~held_out), ridge, weights)
        losses.append(_loss(weights, taught.only(held_out))[0])
        path.append(weights)
    best = int(np.argmin(losses))
    final = _fit(taught, RIDGES[best], path[best]).astype(np.float32)
    return lambda asked: np.asarray(_bent(asked) @ final, np.float64)


def boosting(lesson: Lesson, rng: np.random.Generator) -> Scorer:
    """Boosted trees that tell carriers from others, whatever their question."""
    if not 0 < lesson.carrying.sum() < lesson.people.sum():
        return lambda asked: np.zeros(len(asked))
    people = np.concatenate([lesson.carrying, lesson.people - lesson.carrying])
    outcome = np.repeat([True, False], len(lesson.people))
    model = grown(lesson.design, outcome, people, rng)
    return lambda asked: scored(model, asked)


def _only(features: Features, names: Sequence[str]) -> Features:
    return {name: features[name] for name in names}


def _standardised(lineup: Lineup, numbers: Floats) -> Floats:
    size = lineup.members[lineup.question]
    centred = numbers - lineup.total(numbers) / size
    spread = np.sqrt(lineup.total(centred**2) / size)
    flat = spread <= FLAT * (1 + np.abs(numbers))
    return np.where(flat, 0.0, centred / np.where(flat, 1.0, spread))


def _half(questions: int, rng: np.random.Generator) -> Bools:
    chosen = np.zeros(questions, bool)
    chosen[rng.permutation(questions)[: questions // 2]] = True
    return chosen


def _bent(design: Singles) -> Singles:
    clipped = np.clip(design, -FARTHEST, FARTHEST)
    return np.hstack([clipped, clipped**2 - np.float32(0.5)])


def _fit(lesson: Lesson, ridge: float, start: Floats) -> Floats:
    if not len(lesson.size):
        return start
    from scipy.optimize import minimize  # takes long to load: only where something is learned

    def penalised(weights: Floats) -> tuple[float, Floats]:
        value, gradient = _loss(weights, lesson)
        return value + ridge / 2 * float(weights @ weights), gradient + ridge * weights

    options = {"maxiter": ROUNDS}
    return np.asarray(minimize(penalised, start, jac=True, method="L-BFGS-B", options=options).x)


def _loss(weights: Floats, lesson: Lesson) -> tuple[float, Floats]:
    """Minus the logarithm of the likelihood, and its gradient."""
    design, sizes, people, carrying = lesson
    if not len(sizes):
        return 0.0, np.zeros(len(weights))
    questions = Ragged.of_lengths(sizes)
    truth = carrying / questions.spread(questions.summed(carrying.astype(float)))
    scores = (design @ weights.astype(np.float32)).astype(float)
    top = questions.largest(scores)
    weight = people * np.exp(scores - questions.spread(top))
    total = questions.summed(weight)
    value = float((np.log(total) + top).sum() - truth @ scores)
    surplus = (weight / questions.spread(total) - truth).astype(np.float32)
    return value, (surplus @ design).astype(float)
