"""The insider: knows how releases are made, makes some of resampled tables, and learns on them what
gives carriers away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from shoal.arrays import Floats
from shoal.attacks.attacker import UNSURE, Guesses, NotApplicableError
from shoal.attacks.features import features
from shoal.attacks.learning import Features, from_other_half, from_practice, learners
from shoal.attacks.lineup import Lineup, from_logs
from shoal.attacks.scene import MOST_CASES, WIDEST, Remake, Scene
from shoal.data.table import Table
from shoal.data.table.table import Cells
from shoal.errors import InputError
from shoal.knowledge import Knowledge

# Tables like a given one, for an insider who practises on releases of their own.


def resampled(table: Table, rng: np.random.Generator, *, rows: int | None = None) -> Table:
    """As many people (or so many), drawn with replacement; only the signatures that occur are
    kept."""
    signature, member, held = table.member_cells
    drawn = rng.multinomial(rows or table.rows, held / held.sum())
    kept = np.flatnonzero(drawn)
    present, index = np.unique(signature[kept], return_inverse=True)
    some = Cells(signature[kept], member[kept], drawn[kept])
    return replace(
        table,
        signatures=table.signatures[present],
        member_cells=some._replace(signature=index.astype(np.int32)),
        weights=table.weights_of(some),
        people=None,
        native=None,
    )


RESAMPLES, MOST_ROWS = 2, 100_000
"""How many releases are made, of at most so many rows."""


class Insider:
    """Practises on releases whose carriers they know."""

    name = "insider"
    reasoning = "makes releases of other tables in the same way, and learns who is a case in those"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        if scene.remake is None:
            raise NotApplicableError("Nothing says how the release was made, so as to repeat it.")
        rng, practised, problem = scene.rng(self.name), list[tuple[Lineup, Features]](), "."
        for number, stream in enumerate(rng.spawn(RESAMPLES)):
            if number and scene.late:
                break
            try:
                made = practise(scene, scene.remake, stream)
            except InputError as error:
                problem = f": {error.problem}"
                continue
            if made.questions:
                practised.append((made, features(made)))
        if not practised:
            raise NotApplicableError(
                f"No release of a resampled table could be made to learn from{problem}"
            )
        return self._named(scene, practised, rng)

    def _named(
        self, scene: Scene, practised: list[tuple[Lineup, Features]], rng: np.random.Generator
    ) -> Iterator[Guesses]:
        if scene.sample.questions:
            told = features(scene.sample)
            for name, learner in learners().items():
                scores = from_practice(scene.sample, told, practised, learner, rng)
                yield _learnt(scene, scores, name)


class Informed:
    """Has been told who carries in half of the groups, and learns from these."""

    name = "informed"
    reasoning = "knows the cases of half of the groups, and learns from them to name the others"

    def attack(self, scene: Scene) -> Iterator[Guesses]:
        if scene.sample.questions < 2:
            return
        rng, told = scene.rng(self.name), features(scene.sample)
        for name, learner in learners().items():
            scores = from_other_half(scene.sample, told, learner, rng)
            yield _learnt(scene, scores, name)


def _learnt(scene: Scene, scores: Floats, name: str) -> Guesses:
    """Scores are logarithms of odds; nobody is certain by what they learnt from others."""
    chance = np.minimum(scene.sample.posterior(from_logs(scores)), UNSURE)
    return Guesses(scene.sample, scores, name, chance, scene.by_counts)


def practise(scene: Scene, remake: Remake, rng: np.random.Generator) -> Lineup:
    """A release of a resampled table, whose carriers the insider knows; an InputError where the
    method cannot make one, as where too many of them find no group."""
    other = resampled(scene.table, rng, rows=min(scene.table.rows, MOST_ROWS))
    other = replace(other, spec=other.spec.with_(knowledge=None))
    made = remake(other, int(rng.integers(2**31)))
    lineup = Lineup.of(other, made, Knowledge.of(other), limit=scene.limit)
    return lineup.sample(MOST_CASES, widest=WIDEST, rng=rng)
