"""How many judgements of large classes are exact, bounds or estimates, and whom they leave
undecided: with bounds by swaps alone, and with those by averages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import timed
from benchmarks.settings import ARX_FILE, adult_frame, adult_spec, data_root
from benchmarks.stages import Say
from shoal.auditing.adversaries import joint
from shoal.auditing.align import align_release
from shoal.auditing.audit import audit
from shoal.data.sources import read_table
from shoal.data.table import Table
from shoal.data.table.hierarchy import adult_hierarchies
from shoal.groups import Grouping
from shoal.knowledge import Knowledge
from shoal.planning.comparison.trial import equip


def measure_undecided(say: Say) -> list[dict[str, Any]]:
    """A line per release and way to bound, judged by the joint adversary at r = 10."""
    lines = []
    for name, table, grouping in _releases():
        knowledge = Knowledge.of(table)
        for bounds in ("swaps", "swaps and averages"):
            with patch.object(joint, "average_bounds", _nothing if bounds == "swaps" else _all):
                found, seconds = timed(lambda: audit(table, grouping, knowledge=knowledge))  # noqa: B023
            line = {
                "release": name,
                "r": found.r,
                "bounds": bounds,
                **found.posteriors,
                "published": found.published,
                "problematic": found.problematic,
                "undecided": found.undecided,
                "seconds": round(seconds, 1),
            }
            say(f"  {line}")
            lines.append(line)
    return lines


def _releases() -> Iterator[tuple[str, Table, Grouping]]:
    frame, root = adult_frame(), data_root()
    assert frame is not None
    if root is not None and (root / ARX_FILE).is_file():
        table, grouping, _ = align_release(frame, read_table(root / ARX_FILE), adult_spec())
        yield "ARX, 10-diverse", table, grouping
    for r in (10.0, 2.0):
        table = Table.from_frame(frame, adult_spec(r=r))
        method = equip("t-closeness", {}, adult_hierarchies())
        yield f"t-closeness for r = {r:g}", table, method.anonymize(table, seed=0)


_all = joint.average_bounds


def _nothing(
    weights: NDArray[np.float64], *others: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds that say nothing."""
    shape = (len(weights), int(others[-1]))
    return np.zeros(shape), np.ones(shape)
