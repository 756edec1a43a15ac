"""Learning from groups whose carriers are known to name the carriers of others.

The logit chooses among the suspects of a case: a softmax over them of a linear score, fitted by
maximum likelihood with a ridge, whose strength is chosen on cases held out. A case with several
carriers counts each of them in equal parts. Gradient boosting, where scikit-learn is installed, is
a second opinion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.insider.lineup import Bools, Lineup
from benchmarks.insider.odds import Floats, Ints

Design = NDArray[np.float32]
Features = Mapping[str, Floats]
Practice = Sequence[tuple[Lineup, Features]]
"""Line-ups to learn from."""
Scorer = Callable[[Design], Floats]
Learner = Callable[[Design, Ints, Bools, np.random.Generator], Scorer]
"""From suspects x features, the sizes of their cases and who carries, to what scores suspects."""
RIDGES = (1000.0, 100.0, 10.0)
ROUNDS = 60
FARTHEST = 4.0
FLAT = 1e-9


def learners() -> dict[str, Learner]:
    """By name; boosting only where scikit-learn is installed."""
    found: dict[str, Learner] = {"logit": logit}
    if find_spec("sklearn"):
        found["boosting"] = boosting
    return found


def from_other_half(
    lineup: Lineup, features: Features, learner: Learner, rng: np.random.Generator
) -> Floats:
    """A score for every suspect, learnt from the half of the cases that it is not in."""
    design = standing_out(lineup, features)
    half = _half(lineup.cases, rng)
    scores = np.zeros(len(design))
    for mine in (half, ~half):
        asked = mine[lineup.case]
        if asked.all():
            continue  # one case has no other half
        scorer = learner(design[~asked], lineup.size[~mine], lineup.carries[~asked], rng)
        scores[asked] = scorer(design[asked])
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
    scorer = learner(
        np.concatenate([standing_out(one, _only(theirs, shared)) for one, theirs in practice]),
        np.concatenate([one.size for one, _ in practice]),
        np.concatenate([one.carries for one, _ in practice]),
        rng,
    )
    return scorer(standing_out(lineup, _only(features, shared)))


def standing_out(lineup: Lineup, features: Features) -> Design:
    """suspects x (two per feature): standardised within the case, and as a rank in it."""
    design = np.empty((len(lineup.signature), 2 * len(features)), np.float32)
    for i, numbers in enumerate(features.values()):
        design[:, 2 * i] = _standardised(lineup, numbers)
        design[:, 2 * i + 1] = ranks(lineup, numbers)
    return design


def ranks(lineup: Lineup, numbers: Floats) -> Floats:
    """From -1 to 1 within the case; equals share the rank in their middle."""
    order = np.lexsort((numbers, lineup.case))
    ordered, case = numbers[order], lineup.case[order]
    fresh = np.append(True, (np.diff(ordered) != 0) | (np.diff(case) != 0))
    first = np.flatnonzero(fresh)
    last = np.append(first[1:], len(order)) - 1
    middle = ((first + last) / 2)[np.cumsum(fresh) - 1] - lineup.start[case]
    others = lineup.size[case] - 1
    found = np.empty(len(numbers))
    found[order] = np.where(others > 0, 2 * middle / np.maximum(1, others) - 1, 0.0)
    return found


def logit(design: Design, sizes: Ints, carries: Bools, rng: np.random.Generator) -> Scorer:
    """The conditional logit on features and their squares."""
    bent = _bent(design)
    held_out = _half(len(sizes), rng)
    rows = np.repeat(held_out, sizes)
    weights, losses, path = np.zeros(bent.shape[1]), [], []
    for ridge in RIDGES if 0 < held_out.sum() < len(sizes) else RIDGES[:1]:
        weights = _fit(bent[~rows], sizes[~held_out], carries[~rows], ridge, weights)
        losses.append(_loss(weights, bent[rows], sizes[held_out], carries[rows])[0])
        path.append(weights)
    best = int(np.argmin(losses))
    final = _fit(bent, sizes, carries, RIDGES[best], path[best]).astype(np.float32)
    return lambda asked: np.asarray(_bent(asked) @ final, np.float64)


def boosting(design: Design, sizes: Ints, carries: Bools, rng: np.random.Generator) -> Scorer:
    """Boosted trees that tell carriers from others, whatever their case."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-not-found]

    model = HistGradientBoostingClassifier(
        max_iter=200,
        learning_rate=0.06,
        max_leaf_nodes=15,
        l2_regularization=1.0,
        random_state=int(rng.integers(2**31)),
    )
    model.fit(design, carries)
    return lambda asked: np.asarray(model.decision_function(asked), np.float64)


def _only(features: Features, names: Sequence[str]) -> Features:
    return {name: features[name] for name in names}


def _standardised(lineup: Lineup, numbers: Floats) -> Floats:
    size = lineup.size[lineup.case]
    centred = numbers - lineup.total(numbers) / size
    spread = np.sqrt(lineup.total(centred**2) / size)
    flat = spread <= FLAT * (1 + np.abs(numbers))
    return np.where(flat, 0.0, centred / np.where(flat, 1.0, spread))


def _half(cases: int, rng: np.random.Generator) -> Bools:
    chosen = np.zeros(cases, bool)
    chosen[rng.permutation(cases)[: cases // 2]] = True
    return chosen


def _bent(design: Design) -> Design:
    clipped = np.clip(design, -FARTHEST, FARTHEST)
    return np.hstack([clipped, clipped**2 - np.float32(0.5)])


def _fit(design: Design, sizes: Ints, carries: Bools, ridge: float, start: Floats) -> Floats:
    def penalised(weights: Floats) -> tuple[float, Floats]:
        value, gradient = _loss(weights, design, sizes, carries)
        return value + ridge / 2 * float(weights @ weights), gradient + ridge * weights

    options = {"maxiter": ROUNDS}
    return np.asarray(minimize(penalised, start, jac=True, method="L-BFGS-B", options=options).x)


def _loss(weights: Floats, design: Design, sizes: Ints, carries: Bools) -> tuple[float, Floats]:
    """Minus the logarithm of the likelihood, and its gradient."""
    starts, case = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
    truth = carries / np.add.reduceat(carries.astype(float), starts)[case]
    scores = (design @ weights.astype(np.float32)).astype(float)
    top = np.maximum.reduceat(scores, starts)
    weight = np.exp(scores - top[case])
    total = np.add.reduceat(weight, starts)
    value = float((np.log(total) + top).sum() - truth @ scores)
    surplus = (weight / total[case] - truth).astype(np.float32)
    return value, (surplus @ design).astype(float)
