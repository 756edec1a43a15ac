"""What is achieved on Adult: where every value is an event, by every method, and by an ARX release
under audit."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.clock import best, timed
from benchmarks.settings import (
    ARX_FILE,
    EVERY_VALUE,
    METHODS,
    adult_frame,
    adult_spec,
    data_root,
)
from benchmarks.stages import Say
from shoal.auditing.adversaries.adversary import USUAL
from shoal.auditing.align import align_release
from shoal.auditing.audit import audit
from shoal.data.sources import read_table
from shoal.data.table import Table
from shoal.data.table.hierarchy import adult_hierarchies
from shoal.errors import InputError
from shoal.knowledge import Knowledge
from shoal.methods.art import Art
from shoal.planning.comparison.trial import Trial, equip
from shoal.release.tables import canonical


def measure_every(say: Say) -> list[dict[str, Any]]:
    """Every value of education as an event of its own: how many rows find no group, and what every
    adversary makes of it, whoever takes all counts at once among them."""
    frame, lines = adult_frame(), []
    assert frame is not None
    for r in EVERY_VALUE:
        table = Table.from_frame(frame, adult_spec(r=r).with_(protect=None))
        knowledge = Knowledge.of(table)
        method = Art(knowledge=knowledge, max_suppression=1)
        trial = Trial.run(table, method, seed=0)
        found = audit(table, trial.grouping, knowledge=knowledge, adversary=[*USUAL])
        lines.append(
            {
                "r": r,
                "rows": table.rows,
                "suppressed": found.suppressed,
                "mean_size": found.published / found.groups,
                "checks": {check.name: [check.state, check.people] for check in found.checks},
                "guess_rate": found.guess_rate.worst,
            }
        )
        say(f"  {lines[-1]}")
    return lines


def measure_arx(say: Say) -> list[dict[str, Any]]:
    """Both audits of a release that ARX made (10-diverse, local recoding)."""
    frame, root = adult_frame(), data_root()
    assert frame is not None
    if root is None or not (root / ARX_FILE).is_file():
        say(f"  skipped: there is no {ARX_FILE} in the data folder")
        return []
    table, grouping, _ = align_release(frame, read_table(root / ARX_FILE), adult_spec())
    knowledge, lines = Knowledge.of(table), []
    for adversary in ("binary", "joint"):
        found, seconds = timed(
            lambda: audit(table, grouping, knowledge=knowledge, adversary=adversary)  # noqa: B023
        )
        lines.append(
            {
                "adversary": adversary,
                "r": found.r,
                "min_support": table.spec.min_support,
                "classes": found.groups,
                "published": found.published,
                "robust": found.robust,
                "problematic": found.problematic,
                "problematic_carriers": found.problematic_carriers,
                "carriers": found.carriers,
                "problematic_share": found.problematic_share,
                "undecided": found.undecided,
                "worst_posterior": found.worst_posterior,
                "guess_rate": found.guess_rate.worst,
                "exact_share": found.exact_share,
                "members_published": table.spec.publish_members,
                "seconds": round(seconds, 2),
            }
        )
        say(
            f"  {adversary}: {found.problematic:,} problematic, {found.problematic_share:.1%} of "
            f"the carriers, worst {found.worst_posterior:.3f}, {seconds:.1f} s"
        )
    return lines


def measure_methods(say: Say) -> list[dict[str, Any]]:
    """Every method on Adult at r = 5 and r = 2, judged by the joint adversary."""
    frame, lines = adult_frame(), []
    assert frame is not None
    for r in (5.0, 2.0):
        table = Table.from_frame(frame, adult_spec(r=r))
        knowledge = Knowledge.of(table)
        for name in METHODS:
            line: dict[str, Any] = {"r": r, "method": name}
            try:
                method = equip(name, {}, adult_hierarchies())
                made = lambda: method.anonymize(table, seed=0)  # noqa: B023, E731
                grouping, seconds = best(made, time.process_time)
                trial = Trial.of(table, canonical(table, grouping), seconds=seconds)
                found = audit(table, trial.grouping, knowledge=knowledge)
                line |= trial.losses() | {
                    "robust": found.robust,
                    "problematic_share": found.problematic_share,
                    "undecided": found.undecided,
                    "published": found.published,
                    "contradictory": found.contradictory,
                    "worst_posterior": found.worst_posterior,
                    "guess_rate": found.guess_rate.worst,
                    "exact_share": found.exact_share,
                }
                say(
                    f"  r {r:g}, {name:<12} problematic {line['problematic_share']:6.1%}, "
                    f"worst {line['worst_posterior']:.3f}, {line['seconds']:.2f} s"
                )
            except InputError as error:
                line["failed"] = str(error)
                say(f"  r {r:g}, {name:<12} {error}")
            lines.append(line)
    return lines
