"""Scoring: what guesses come to, beside the same attacker without the release and a control."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Floats, Ints, Singles
from shoal.attacks.attacker import Attacker, Guesses, Matches
from shoal.attacks.finding import Finding
from shoal.attacks.lineup import Lineup
from shoal.attacks.rate import CERTAIN, CONFIDENCE, NOBODY, Rate
from shoal.attacks.scene import Scene
from shoal.attacks.surest import Ranked, Surest, surest
from shoal.auditing.attacked import ControlRate

# Whom an attacker names: of each question those with the largest score, of equals anybody.


def shares(lineup: Lineup, score: Floats) -> Floats:
    """How many people of each suspect are named; a fraction where equals have the same chance."""
    order = np.lexsort((-score, lineup.question))
    question, people = lineup.question[order], lineup.people[order]
    fresh = np.append(True, (np.diff(score[order]) != 0) | (np.diff(question) != 0))
    rank = np.cumsum(fresh) - 1
    equals = np.bincount(rank, people)
    first = np.flatnonzero(fresh)
    before = lineup.before(people)[first]
    taken = np.clip(lineup.guesses[question[first]] - before, 0, equals)
    found = np.empty(len(score))
    found[order] = people * (taken / equals)[rank]
    return found


def draw(lineup: Lineup, share: Floats, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """How many of each suspect's people are named, and how many of these carry, drawn at random
    among equals: whole people, as intervals need them."""
    start = rng.random(lineup.questions)
    ends = np.cumsum(share)
    ends -= (ends - share)[lineup.start[:-1]][lineup.question]
    # Marks lie one apart from a random place in the first step on; a suspect is named as often as
    # marks lie in its stretch. The last stretch of a question ends at its guesses but for rounding.
    ends[lineup.start[1:] - 1] = lineup.guesses
    passed = np.ceil(ends - start[lineup.question]).astype(np.int64)
    named = np.diff(passed, prepend=0)
    named[lineup.start[:-1]] = passed[lineup.start[:-1]]
    idle = lineup.people - lineup.carrying
    return named, np.asarray(rng.hypergeometric(lineup.carrying, idle, named))


DRAWS = 400
"""How often the control is drawn."""


@dataclass(frozen=True, eq=False)
class _Scored:
    guesses: Guesses
    named: Ints
    """How many of each suspect's people are named."""
    hits: Ints
    """How many of these carry."""

    @property
    def rate(self) -> float:
        return float(self.hits.sum() / max(1, self.named.sum()))


def score(scene: Scene, attacker: Attacker, answer: Iterable[Guesses] | Matches) -> Finding:
    """The figures of one attacker: of several ways, those of the one that is right most often.
    People named with certainty count in whichever way most of them are a surprise."""
    if isinstance(answer, Matches):
        return _matched(attacker, answer)
    return _guessed(scene, attacker, answer)


def _guessed(scene: Scene, attacker: Attacker, answer: Iterable[Guesses]) -> Finding:
    rng = scene.rng(f"{attacker.name}, scored")
    best, certain, surprises, ways = None, NOBODY, 0, 0
    for guesses in answer:
        if not guesses.lineup.questions:
            continue
        share = shares(guesses.lineup, guesses.score)
        scored = _Scored(guesses, *draw(guesses.lineup, share, rng))
        sure, own = _certain(scene, guesses)
        better = best is None or scored.rate > best.rate
        if own > surprises or (better and own == surprises):
            certain, surprises = sure, own
        best = scored if better else best
        ways += 1
    empty = Finding(attacker.name, attacker.reasoning, certain=certain, surprises=surprises)
    return empty if best is None else _figures(scene, empty, best, ways, rng)


def _certain(scene: Scene, guesses: Guesses) -> tuple[Rate, int]:
    """Who is held to be a carrier with certainty, and how many of them are whom the counts alone
    do not name so."""
    lineup, chance = guesses.lineup, guesses.chance
    if chance is None:
        return NOBODY, 0
    sure = np.flatnonzero(chance >= CERTAIN)
    by_counts = scene.by_counts[lineup.signature[sure], lineup.event[lineup.question[sure]]]
    certain = Rate(int(lineup.people[sure].sum()), int(lineup.carrying[sure].sum()))
    return certain, int(lineup.carrying[sure[by_counts < CERTAIN]].sum())


def _figures(
    scene: Scene, empty: Finding, best: _Scored, ways: int, rng: np.random.Generator
) -> Finding:
    lineup = best.guesses.lineup
    event = lineup.event[lineup.question]
    by_counts = scene.by_counts[lineup.signature, event]
    quiet = np.flatnonzero(~scene.known[lineup.signature, event])
    tries, hits = int(best.named.sum()), int(best.hits.sum())
    unknown = Rate(int(best.named[quiet].sum()), int(best.hits[quiet].sum()), ways)
    # Events may differ in r: what is promised is the mean over the people who were named.
    limit = 1.0 / lineup.r[lineup.question]
    allowed = (best.named * limit)[quiet].sum()
    with_prior = (best.named * np.maximum(limit, by_counts)).sum()
    return replace(
        empty,
        through=best.guesses.through if ways > 1 else "",
        everybody=Rate(tries, hits, ways),
        unknown=unknown,
        known=Rate(tries - unknown.tries, hits - unknown.hits, ways),
        promised=float(allowed) / unknown.tries if unknown.tries else None,
        baseline=_without_release(scene, best),
        control=_controlled(lineup.claimed, best.named, rng),
        allowed=float(with_prior) / tries if tries else None,
        surest=tuple(_surest(scene, best, ways)),
    )


def _without_release(scene: Scene, best: _Scored) -> float:
    """How often this attacker is right who names as many people of the whole table, by what was
    known before."""
    lineup, hits = best.guesses.lineup, 0.0
    tries = np.bincount(lineup.event[lineup.question], best.named, len(scene.table.events))
    for event in np.flatnonzero(tries):
        before = best.guesses.before
        ranks = np.zeros(len(scene.table.signatures)) if before is None else before[:, event]
        everybody = Ranked(ranks, scene.table.signature_rows, scene.carriers[:, event])
        hits += everybody.right(float(tries[event]))
    return hits / float(tries.sum())


def _surest(scene: Scene, best: _Scored, ways: int) -> Iterator[Surest]:
    """By how likely the attacker thinks people carry; by the score, where there is no opinion."""
    guesses, lineup = best.guesses, best.guesses.lineup
    rank = guesses.score if guesses.chance is None else guesses.chance
    before = guesses.before
    everybody = np.repeat(scene.table.signature_rows[:, None], len(scene.table.events), axis=1)
    alone = np.zeros(everybody.shape) if before is None else before
    return surest(
        Ranked(rank, lineup.people, lineup.carrying),
        lineup.claimed,
        scene.known[lineup.signature, lineup.event[lineup.question]],
        Ranked(alone.ravel(), everybody.ravel(), scene.carriers.ravel()),
        scene.known.ravel(),
        ways,
    )


def _controlled(claimed: Singles, named: Ints, rng: np.random.Generator) -> ControlRate:
    """In the view that expects most of the people who were named."""
    named_in = np.flatnonzero(named)
    view = int(np.argmax(named[named_in] @ claimed[named_in]))
    chance = np.repeat(claimed[named_in, view].astype(np.float64), named[named_in])
    drawn = np.array([(rng.random(len(chance)) < chance).mean() for _ in range(DRAWS)])
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return ControlRate(rate=float(chance.mean()), low=float(low), high=float(high))


def _matched(attacker: Attacker, answer: Matches) -> Finding:
    """Whose record is found: only one fits."""
    found = Rate(int(answer.people.sum()), int(answer.people[answer.records == 1].sum()))
    return Finding(
        attacker.name, attacker.reasoning, everybody=found, certain=Rate(found.hits, found.hits)
    )
