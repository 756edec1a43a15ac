"""Random small groups: what the auditor and the public functions say of each, against every
possible world.

Groups that publish the same values are weighed together: one array of worlds, one product.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

import shoal
from shoal.auditing.audit import audit
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.knowledge import Knowledge
from tests.oracle.worlds import worlds

BATCH = 2000
BY_THEMSELVES = 20
"""So many groups of a batch are also given to the functions for one group."""
ROUNDING = 1e-9
SHARES = np.array([0, 0, 1, 1, 2, 3, 7, 40, 1_000, 10**9], float)
Floats = NDArray[np.float64]


class Batch(NamedTuple):
    """Groups x people x values: what is known of everybody, and what every group publishes."""

    chances: Floats
    values: tuple[int, ...]
    event: list[int]
    """The values that are protected."""
    r: float
    prior: bool


def judge_batch(seed: tuple[int, int]) -> list[str]:
    """What is wrong in one batch."""
    rng = np.random.default_rng(seed)
    batch = _drawn(rng)
    joint = posteriors(batch.chances, batch.values)[:, :, batch.event].sum(axis=2)
    told = batch.chances[:, :, batch.event].sum(axis=2).clip(max=1.0)
    carried = tuple(sorted(int(value not in batch.event) for value in batch.values))
    binary = posteriors(np.stack([told, 1 - told], axis=2), carried)[:, :, 0]
    wrong = _audited(batch, "joint", joint, told) + _audited(batch, "binary", binary, told)
    for number in rng.choice(BATCH, BY_THEMSELVES, replace=False).tolist():
        wrong += _alone(batch.chances[number], batch.values)
    return wrong


def posteriors(chances: Floats, values: tuple[int, ...]) -> Floats:
    """Equations 1 to 3, group by group; NaN where no world has weight."""
    ways = np.array(worlds(tuple(sorted(values))))
    people = np.arange(chances.shape[1])
    weight = chances[:, people, ways].prod(axis=2)
    has = ways[:, :, None] == np.arange(chances.shape[2])
    with np.errstate(invalid="ignore"):
        return np.asarray(np.einsum("gw,wpv->gpv", weight, has) / weight.sum(axis=1)[:, None, None])


def _drawn(rng: np.random.Generator) -> Batch:
    people, width = int(rng.integers(2, 7)), int(rng.integers(2, 5))
    values = np.sort(rng.integers(0, width, people))
    values[0], values[-1] = 0, width - 1
    shares = rng.choice(SHARES, (BATCH, int(rng.integers(1, people + 1)), width))
    shares = np.take_along_axis(
        shares, rng.integers(0, shares.shape[1], (BATCH, people, 1)), axis=1
    )
    true = rng.permuted(np.tile(values, (BATCH, 1)), axis=1)[:, :, None]
    held = np.take_along_axis(shares, true, axis=2)
    np.put_along_axis(shares, true, np.maximum(held, rng.choice([1, 1000])), axis=2)
    chances = _exact(shares, elsewhere=int(rng.choice([0, 0, 3])))
    event = [0, width - 1] if len(set(values.tolist())) > 2 and rng.random() < 0.5 else [0]
    return Batch(
        chances,
        tuple(values.tolist()),
        event,
        float(rng.choice([1.3, 2, 2.5, 3, 5])),
        bool(rng.integers(2)),
    )


def _exact(shares: Floats, *, elsewhere: int) -> Floats:
    """Distributions in units of 2^-24. Every sum of them is exact, and what is left to 1 is nothing
    or more than a tolerance: below 1e-9 shoal takes it for a rounded nothing where no other value
    of the table has a chance."""
    whole = 1 << 24
    units = np.floor(shares / (shares.sum(axis=2, keepdims=True) + elsewhere) * whole)
    units = np.maximum(units, shares > 0)
    left = whole - units.sum(axis=2, keepdims=True)
    largest = units.argmax(axis=2)[:, :, None]
    more = np.minimum(left, 0) if elsewhere else left
    np.put_along_axis(units, largest, np.take_along_axis(units, largest, axis=2) + more, axis=2)
    return np.asarray(units / whole)


def _audited(batch: Batch, adversary: str, expected: Floats, before: Floats) -> list[str]:
    """A table of all groups, in which everybody is known by a distribution of their own."""
    groups, people, width = batch.chances.shape
    names = np.array([f"v{value}" for value in range(width)])
    group = np.repeat(np.arange(groups), people)
    frame = pl.DataFrame({"who": np.arange(len(group)), "x": names[np.tile(batch.values, groups)]})
    spec = shoal.Spec(
        qi=["who"],
        sensitive="x",
        protect=[shoal.Event(tuple(names[batch.event].tolist()))],
        r=batch.r,
        publish_members=True,
        limit="prior" if batch.prior else "absolute",
    )
    table = Table.from_frame(frame, spec)
    place = [int(name[1:]) for name in table.values]
    known = Knowledge.model(table, "drawn", batch.chances.reshape(len(group), width)[:, place])
    found = audit(table, group, knowledge=known, adversary=adversary)
    posterior = found.frame["posterior"].to_numpy().reshape(groups, people)
    called = found.frame["problematic"].to_numpy().reshape(groups, people)
    limit = np.maximum(1 / batch.r, before) if batch.prior else 1 / batch.r
    off, wrong = abs(posterior - expected).max(), []
    if not off <= ROUNDING:
        wrong.append(f"{adversary}: a posterior is off by {off:.1e}")
    if (~called & (expected > limit + ROUNDING)).any():
        wrong.append(f"{adversary}: somebody above the limit is called safe")
    if (called & (expected < limit - ROUNDING)).any():
        wrong.append(f"{adversary}: somebody below the limit is called linked")
    if found.robust and (expected > limit + ROUNDING).any():
        wrong.append(f"{adversary}: a false robust")
    return wrong


def _alone(chances: Floats, values: tuple[int, ...]) -> list[str]:
    """One group by the public functions, as it is and with one person who can have less."""
    wrong = []
    poorer = chances.copy()
    poorer[0, values[0]] = 0
    for one in (chances, poorer):
        expected = posteriors(one[None], values)[0]
        told, count = one[:, 0], values.count(0)
        two = tuple(sorted(int(value != 0) for value in values))
        alone = posteriors(np.stack([told, 1 - told], axis=1)[None], two)[0][:, 0]
        wrong += _compared(partial(shoal.joint_posterior, one, values), expected)
        wrong += _compared(partial(shoal.binary_posterior, told, count), alone)
        if not np.isnan(expected).any():
            lower, upper = shoal.joint_bounds(one, values)
            if (lower > expected + ROUNDING).any() or (upper < expected - ROUNDING).any():
                wrong.append("joint_bounds is on the wrong side")
    return wrong


def _compared(answer: partial[Floats], expected: Floats) -> list[str]:
    name = answer.func.__name__
    try:
        found = answer()
    except InputError as error:
        right = error.code == "no-world" and np.isnan(expected).any()
        return [] if right else [f"{name} says {error.code}"]
    return [] if np.allclose(found, expected, rtol=0, atol=ROUNDING) else [f"{name} is off"]
