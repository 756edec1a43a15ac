"""Every attacker on one release.

They see the release and the public knowledge only, and know how groups are made. The truth scores
their guesses; learners also learn from it, on other groups than those that they are asked about.
One guess is made for each event in each group that holds it; it is right if the member who is named
carries the event, so that chance alone is right in carriers/size of the tries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.insider.finding import Finding, Kind
from shoal.arrays import Bools, Floats
from shoal.attacks import Lineup, Rate, Scene
from shoal.attacks.counting import by_class
from shoal.attacks.distances import in_logs, in_ratios, to_all_others
from shoal.attacks.features import features
from shoal.attacks.insider import practise
from shoal.attacks.learning import from_other_half, from_practice, learners
from shoal.attacks.naming import draw, shares
from shoal.attacks.rules import rarity
from shoal.data.spec import Limit
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.groups import Grouping
from shoal.knowledge import Knowledge, event_chances
from shoal.knowledge.models import fit_model

Method = Callable[[Table, int], Grouping]
"""What makes groups of a table, from a seed."""
Told = Callable[..., Finding]
"""What becomes of an attacker's scores: `score` on one line-up."""
MODELS = ("boosting", "logistic")
"""What somebody can know of a person who takes all QIs together, without any release."""


def attack(
    table: Table,
    grouping: Grouping,
    knowledge: Knowledge,
    *,
    limit: Limit = "absolute",
    rng: np.random.Generator,
    method: Method | None = None,
    resamples: int = 2,
) -> list[Finding]:
    """What each attacker achieves. With a `method` learners also practise on its groups of
    resampled tables. `rng` must have nothing to do with what the release was made with."""
    scoring, learning, practising = rng.spawn(3)
    scene = Scene(table, grouping, knowledge, limit)
    lineup = scene.lineup
    if not lineup.cases:
        return []
    foretold = [foretell(table, name) for name in MODELS]
    told = partial(score, lineup, rng=scoring, unforeseen=unforeseen(lineup, foretold))
    found = list(_by_rule(lineup, told, scoring))
    streams = practising.spawn(resamples)
    made = [_practised(scene, method, stream) for stream in streams] if method else []
    practised = [one for one in made if one is not None and one.cases]
    found += _learnt(lineup, practised, learning, told)
    for name, chances in zip(MODELS, foretold, strict=True):
        found.append(told(f"{name} model of all QIs", _chance(lineup, chances), kind="modeller"))
    counted = by_class(lineup, knowledge.class_views)
    found.append(told("counting by class", counted, kind="counting"))
    found.append(told("counting in all views at once", scene.believed[0], kind="counting"))
    return found


def score(
    lineup: Lineup,
    attacker: str,
    scores: Floats,
    rng: np.random.Generator,
    kind: Kind = "insider",
    unforeseen: Bools | None = None,
) -> Finding:
    """The attacker who names the suspect with the largest score; of equals, anybody."""
    right = right_in(lineup, scores, rng)
    some = (right, right[unknown(lineup)], right[:0] if unforeseen is None else right[unforeseen])
    return Finding(attacker, kind, *(Rate(len(one), int(one.sum())) for one in some))


def unknown(lineup: Lineup) -> Bools:
    """The cases all of whose carriers are beforehand at 1/r at most, in every view."""
    known = (lineup.carrying > 0) & lineup.known
    return np.asarray(~np.logical_or.reduceat(known, lineup.start[:-1]))


def foretell(table: Table, model: str) -> Floats:
    """signatures x events: what a model says, fitted to people of other signatures."""
    (view,) = fit_model(table, model).views
    return np.asarray(event_chances(view, table)[view.index])


def unforeseen(lineup: Lineup, foretold: list[Floats]) -> Bools:
    """The unknown cases none of whose carriers a model puts above 1/r."""
    highest = np.max([_chance(lineup, chances) for chances in foretold], axis=0)
    above = (lineup.carrying > 0) & (highest > 1 / lineup.r[lineup.case])
    return np.asarray(unknown(lineup) & ~np.logical_or.reduceat(above, lineup.start[:-1]))


def _chance(lineup: Lineup, chances: Floats) -> Floats:
    """What a model says of each suspect and the event of its case."""
    return np.asarray(chances[lineup.signature, lineup.event[lineup.case]])


def likeliest_in_worst_view(lineup: Lineup, rng: np.random.Generator) -> Finding:
    """The likeliest member in the view, and for the reader, where that is right most often."""
    right = np.stack([right_in(lineup, column, rng) for column in lineup.odds.T], axis=1)
    everybody, quiet = (
        Rate(len(some), int(some.sum(axis=0).max()), chosen_among=some.shape[1])
        for some in (right, right[unknown(lineup)])
    )
    return Finding("likeliest in the worst view", "insider", everybody, quiet)


def right_in(lineup: Lineup, scores: Floats, rng: np.random.Generator) -> Bools:
    """Whether whoever is named in each case carries."""
    _, hits = draw(lineup, shares(lineup, scores), rng)
    return np.asarray(np.add.reduceat(hits, lineup.start[:-1]) > 0)


def _practised(scene: Scene, method: Method, rng: np.random.Generator) -> Lineup | None:
    """A release of a resampled table; None where too many of its carriers find no group."""
    try:
        return practise(scene, method, rng)
    except InputError as error:
        if error.code not in ("suppression-limit", "r-impossible"):
            raise
        return None


def _by_rule(lineup: Lineup, told: Told, rng: np.random.Generator) -> Iterator[Finding]:
    yield told("a random member", np.zeros(len(lineup.signature)))
    yield likeliest_in_worst_view(lineup, rng)
    yield told("likeliest on average", lineup.log_odds.mean(axis=1))
    yield told("medoid", -to_all_others(lineup, in_ratios))
    yield told("medoid in log odds", -to_all_others(lineup, in_logs))
    yield told("rarest", rarity(lineup))


def _learnt(
    lineup: Lineup, practised: list[Lineup], rng: np.random.Generator, told: Told
) -> Iterator[Finding]:
    shown = features(lineup)
    practice = [(one, features(one)) for one in practised]
    for name, learner in learners().items():
        scores = from_other_half(lineup, shown, learner, rng)
        yield told(f"{name}, from the other half", scores)
        if practice:
            scores = from_practice(lineup, shown, practice, learner, rng)
            yield told(f"{name}, from resamples", scores)
