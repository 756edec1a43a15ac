"""Every attacker on one release.

They see the release and the public knowledge only (lineup.py), and know how groups are made. The
truth scores their guesses; learners also learn from it, on other groups than those that they are
asked about. One guess is made for each event in each group that holds it; it is right if the member
who is named carries the event, so that chance alone is right in carriers/size of the tries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.insider import counting
from benchmarks.insider.distances import as_searched, in_logs, to_all_others
from benchmarks.insider.features import duplicates, features
from benchmarks.insider.learning import from_other_half, from_practice, learners
from benchmarks.insider.lineup import Limit, Lineup
from benchmarks.insider.odds import Floats
from benchmarks.insider.rate import Finding, Kind, Rate
from benchmarks.insider.replay import replay
from benchmarks.insider.resampling import resampled
from shoal.errors import InputError
from shoal.grouping import Grouping
from shoal.knowledge import Knowledge
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
    order, chance, replaying, learning, practising = rng.spawn(5)
    lineup = Lineup.of(table, grouping, knowledge, limit=limit, rng=order)
    if not lineup.cases:
        return []
    found = list(_by_rule(lineup, chance))
    if rows_searched:
        found.append(score(lineup, "replay of the growth", _replayed(lineup, replaying)))
    streams = practising.spawn(resamples)
    made = [_practised(table, method, limit, stream) for stream in streams] if method else []
    found += _learnt(lineup, [one for one in made if one is not None and one.cases], learning)
    told = {"by class": counting.by_class, "in all views at once": counting.in_all_views}
    for name, counter in told.items():
        found.append(score(lineup, f"counting {name}", counter(lineup), "counting"))
    return found


def score(lineup: Lineup, attacker: str, scores: Floats, kind: Kind = "insider") -> Finding:
    """The attacker who names the suspect with the largest score."""
    right = lineup.right(scores)
    quiet = right[lineup.unknown]
    return Finding(
        attacker,
        kind,
        everybody=Rate(len(right), int(right.sum())),
        unknown=Rate(len(quiet), int(quiet.sum())),
    )


def likeliest_in_worst_view(lineup: Lineup) -> Finding:
    """The likeliest member in the view, and for the reader, where that is right most often."""
    right = np.stack([lineup.right(column) for column in lineup.odds.T], axis=1)
    everybody, unknown = (
        Rate(len(some), int(some.sum(axis=0).max()), chosen_among=some.shape[1])
        for some in (right, right[lineup.unknown])
    )
    return Finding("likeliest in the worst view", "insider", everybody, unknown)


def _by_rule(lineup: Lineup, rng: np.random.Generator) -> Iterator[Finding]:
    yield score(lineup, "a random member", rng.random(len(lineup.signature)))
    yield likeliest_in_worst_view(lineup)
    yield score(lineup, "likeliest on average", lineup.log_odds.mean(axis=1))
    yield score(lineup, "medoid", -to_all_others(lineup, as_searched))
    yield score(lineup, "medoid in log odds", -to_all_others(lineup, in_logs))
    in_table = lineup.table.signature_rows[lineup.signature]
    yield score(lineup, "rarest", -duplicates(lineup) - in_table / (1 + in_table.max()))


def _replayed(lineup: Lineup, rng: np.random.Generator) -> Floats:
    """Of equals, the one nearest to the others comes first."""
    apart = to_all_others(lineup, as_searched)
    return replay(lineup, rng) - 1e-6 * apart / (1 + apart)


def _learnt(lineup: Lineup, practised: list[Lineup], rng: np.random.Generator) -> Iterator[Finding]:
    told = features(lineup)
    practice = [(one, features(one)) for one in practised]
    for name, learner in learners().items():
        scores = from_other_half(lineup, told, learner, rng)
        yield score(lineup, f"{name}, from the other half", scores)
        if practice:
            scores = from_practice(lineup, told, practice, learner, rng)
            yield score(lineup, f"{name}, from resamples", scores)


def _practised(
    table: Table, method: Method, limit: Limit, rng: np.random.Generator
) -> Lineup | None:
    """A release of a resampled table, whose carriers the insider knows; None where the method stops
    because too many of them find no group."""
    drawing, order = rng.spawn(2)
    other = resampled(table, drawing)
    try:
        made = method(other, int(rng.integers(2**31)))
    except InputError as error:
        if error.code != "suppression-limit":
            raise
        return None
    return Lineup.of(other, made, Knowledge.of(other), limit=limit, rng=order)
