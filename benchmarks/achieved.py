"""What is achieved on Adult: by ART, by every method, and by an ARX release under audit."""

from __future__ import annotations

from typing import Any

from benchmarks.clock import best, timed
from benchmarks.settings import (
    ART_SETTINGS,
    ARX_FILE,
    EVERY_VALUE,
    METHODS,
    POOLED_AIM,
    adult_frame,
    adult_spec,
    data_root,
)
from benchmarks.stages import Say
from shoal.anonymizers.art import Art
from shoal.auditing.align import align_release
from shoal.auditing.audit import audit
from shoal.comparison.trial import Trial, equip
from shoal.errors import InputError
from shoal.knowledge import Knowledge
from shoal.planning.plan import coverage_bound
from shoal.sources import read_table
from shoal.table import Table
from shoal.table.hierarchy import adult_hierarchies


def measure_art(say: Say) -> list[dict[str, Any]]:
    """Suppressed, pooled, sizes, and the linear program's limit, in each setting."""
    frame, lines = adult_frame(), []
    assert frame is not None
    for qi, support, r, aim in ART_SETTINGS:
        table = Table.from_frame(frame, adult_spec(qi=qi, min_support=support, r=r))
        knowledge = Knowledge.of(table)
        method = Art(knowledge=knowledge, max_suppression=1)
        trial, seconds = best(lambda: Trial.run(table, method, seed=0))  # noqa: B023
        found, judging = timed(lambda: audit(table, trial.grouping, knowledge=knowledge))  # noqa: B023
        lost = trial.losses()
        pooled = trial.grouping.pooled
        share = lost["suppressed_with_event"] / lost["with_event"]
        groups = found.event_groups
        pooled_share = 0.0 if pooled is None else int(pooled.sum()) / groups
        line = {
            "qi": qi,
            "min_support": support,
            "r": r,
            "views": found.views,
            "carriers": lost["with_event"],
            "suppressed": lost["suppressed_with_event"],
            "suppressed_share": share,
            "aim": aim,
            "met": share <= aim and pooled_share <= POOLED_AIM and found.robust is True,
            "lp_bound": coverage_bound(table, knowledge, 0, r),
            "groups": groups,
            "mean_size": lost["mean_group_with_event"],
            "pooled_groups": 0 if pooled is None else int(pooled.sum()),
            "pooled_share": pooled_share,
            "robust": found.robust,
            "problematic": found.problematic,
            "worst_posterior": found.worst_posterior,
            "guess_rate": found.guess_rate.worst,
            "search_seconds": round(seconds, 3),
            "audit_seconds": round(judging, 3),
        }
        lines.append(line)
        say(
            f"  {qi} QIs, min_support {support}, r {r:g}: suppressed {share:.2%} (aim {aim:.1%}), "
            f"pooled {pooled_share:.1%}, size {line['mean_size']:.1f}, robust {found.robust}, "
            f"guess {line['guess_rate']:.3f}, {seconds:.1f} s"
        )
    return lines


def measure_every(say: Say) -> list[dict[str, Any]]:
    """Every value of education as an event of its own: how many rows find no group."""
    frame, lines = adult_frame(), []
    assert frame is not None
    small = Table.from_frame(frame.head(2_000), adult_spec(r=2).with_(protect=None))
    Art(max_suppression=1).anonymize(small)  # compiles
    for r in EVERY_VALUE:
        table = Table.from_frame(frame, adult_spec(r=r).with_(protect=None))
        knowledge = Knowledge.of(table)
        method = Art(knowledge=knowledge, max_suppression=1)
        trial, seconds = timed(lambda: Trial.run(table, method, seed=0))  # noqa: B023
        found = audit(table, trial.grouping, knowledge=knowledge)
        lines.append(
            {
                "r": r,
                "rows": table.rows,
                "suppressed": found.suppressed,
                "mean_size": found.published / found.groups,
                "robust": found.robust,
                "exact_share": found.exact_share,
                "worst_posterior": found.worst_posterior,
                "guess_rate": found.guess_rate.worst,
                "commonest": float(table.value_rows.max() / table.rows),
                "search_seconds": round(seconds, 1),
            }
        )
        say(
            f"  r {r:g}: {found.suppressed:,} of {table.rows:,} rows suppressed, robust "
            f"{found.robust}, {seconds:.1f} s"
        )
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
    """Every method on Adult at r = 10 and r = 2, judged by the joint adversary."""
    frame, lines = adult_frame(), []
    assert frame is not None
    for r in (10.0, 2.0):
        table = Table.from_frame(frame, adult_spec(r=r))
        knowledge = Knowledge.of(table)
        for name in METHODS:
            line: dict[str, Any] = {"r": r, "method": name}
            try:
                method = equip(name, {}, adult_hierarchies())
                grouping, seconds = best(lambda: method.anonymize(table, seed=0))  # noqa: B023
                trial = Trial.of(table, grouping, seconds=seconds)
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
