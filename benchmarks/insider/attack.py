"""Every attacker on one release.

They see the release and the public knowledge only, and know how groups are made. The truth scores
their guesses; learners also learn from it, on other groups than those that they are asked about.
One guess is made for each event in each group that holds it; it is right if the member who is named
carries the event, so that chance alone is right in carriers/size of the tries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.insider.finding import Finding, Kind
from benchmarks.insider.replay import replay
from shoal.attacks import Lineup, Rate, Scene
from shoal.attacks.counting import by_class, fitted
from shoal.attacks.distances import as_searched, in_logs, to_all_others
from shoal.attacks.features import features
from shoal.attacks.insider import practise
from shoal.attacks.learning import from_other_half, from_practice, learners
from shoal.attacks.lineup import Bools
from shoal.attacks.naming import draw, shares
from shoal.attacks.odds import Floats
from shoal.attacks.rules import rarity
from shoal.errors import InputError
from shoal.grouping import Grouping
from shoal.knowledge import Knowledge
from shoal.spec import Limit
from shoal.table import Table

Method = Callable[[Table, int], Grouping]
"""What makes groups of a table, from a seed."""


def attack(
    table: Table,
    grouping: Grouping,
    knowledge: Knowledge,
    *,
    limit: Limit = "absolute",
    rng: np.random.Generator,
    method: Method | None = None,
    resamples: int = 2,
    rows_searched: bool = False,
) -> list[Finding]:
    """What each attacker achieves. With a `method` learners also practise on its groups of
    resampled tables; where groups are of the row search (`rows_searched`), it is replayed. `rng`
    must have nothing to do with what the release was made with."""
    scoring, replaying, learning, practising = rng.spawn(4)
    scene = Scene(table, grouping, knowledge, limit)
    lineup = scene.lineup
    if not lineup.cases:
        return []
    found = list(_by_rule(lineup, scoring))
    if rows_searched:
        told = _replayed(lineup, grouping, replaying)
        found.append(score(lineup, "replay of the growth", told, scoring))
    streams = practising.spawn(resamples)
    made = [_practised(scene, method, stream) for stream in streams] if method else []
    practised = [one for one in made if one is not None and one.cases]
    found += _learnt(lineup, practised, learning, scoring)
    counters = {"by class": by_class, "in all views at once": fitted}
    for name, counter in counters.items():
        scores = counter(lineup, knowledge.class_views)
        found.append(score(lineup, f"counting {name}", scores, scoring, "counting"))
    return found


def score(
    lineup: Lineup,
    attacker: str,
    scores: Floats,
    rng: np.random.Generator,
    kind: Kind = "insider",
) -> Finding:
    """The attacker who names the suspect with the largest score; of equals, anybody."""
    right = right_in(lineup, scores, rng)
    quiet = right[unknown(lineup)]
    return Finding(
        attacker,
        kind,
        everybody=Rate(len(right), int(right.sum())),
        unknown=Rate(len(quiet), int(quiet.sum())),
    )


def unknown(lineup: Lineup) -> Bools:
    """The cases all of whose carriers are beforehand at 1/r at most, in every view."""
    known = (lineup.carrying > 0) & lineup.known
    return np.asarray(~np.logical_or.reduceat(known, lineup.start[:-1]))


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


def _by_rule(lineup: Lineup, rng: np.random.Generator) -> Iterator[Finding]:
    yield score(lineup, "a random member", np.zeros(len(lineup.signature)), rng)
    yield likeliest_in_worst_view(lineup, rng)
    yield score(lineup, "likeliest on average", lineup.log_odds.mean(axis=1), rng)
    yield score(lineup, "medoid", -to_all_others(lineup, as_searched), rng)
    yield score(lineup, "medoid in log odds", -to_all_others(lineup, in_logs), rng)
    yield score(lineup, "rarest", rarity(lineup), rng)


def _replayed(lineup: Lineup, grouping: Grouping, rng: np.random.Generator) -> Floats:
    """Of equals, the one nearest to the others comes first."""
    apart = to_all_others(lineup, as_searched)
    return replay(lineup, grouping, rng) - 1e-6 * apart / (1 + apart)


def _learnt(
    lineup: Lineup, practised: list[Lineup], rng: np.random.Generator, scoring: np.random.Generator
) -> Iterator[Finding]:
    told = features(lineup)
    practice = [(one, features(one)) for one in practised]
    for name, learner in learners().items():
        scores = from_other_half(lineup, told, learner, rng)
        yield score(lineup, f"{name}, from the other half", scores, scoring)
        if practice:
            scores = from_practice(lineup, told, practice, learner, rng)
            yield score(lineup, f"{name}, from resamples", scores, scoring)
