"""`shoal demo`: the whole of it on a made-up hospital table."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from shoal.cli.options import refuse_existing
from shoal.cli.report import check_reports, placed_together
from shoal.cli.show import progress_bar
from shoal.cli.warm import helped, hospital_spec
from shoal.data.spec import checked_seed
from shoal.wording import WHOLE
from shoal.wording import plain_percent as percent

TABLE_FILE = "hospital.csv"
REPORT_FILE = "report.html"
ALONE = Path("shoal-demo.html")
"""Where the report goes if nothing else is kept; one of an earlier demo is replaced."""


def demo(rows: int = 20_000, seed: int = 0, out: Path | None = None, force: bool = False) -> None:
    """Make a hospital table, publish it plainly and with ART, audit both, and write a report (to
    OUT/report.html, or shoal-demo.html).

    Args:
        rows: Size of the hospital table.
        seed: Seed of the table and the run.
        out: Keep table, release and report in this folder.
        force: Replace a folder of an earlier demo.
    """
    checked_seed(seed)
    refuse_existing(out, force=force, what="folder")
    if out is None:
        check_reports({"report": ALONE})
    import tempfile

    from shoal.api.anonymize import anonymize
    from shoal.compiling import clock
    from shoal.data import datasets
    from shoal.data.sources import write_table
    from shoal.data.storage import replace_folder
    from shoal.data.table import Table
    from shoal.release.facts import Repeat, release_facts
    from shoal.release.verification.verify import verify
    from shoal.report.page import render
    from shoal.report.public import command_line

    say = typer.echo
    frame = datasets.hospital(rows, seed)
    spec = hospital_spec()
    table = Table.from_frame(frame, spec)
    event = " or ".join(datasets.HOSPITAL_EVENT)
    say(f"1. A hospital has {rows:,} patients; {table.carriers:,} have {event}.")
    say(f"2. It wants to publish {', '.join(spec.qi)} and {spec.sensitive}, and asks for r = 5:")
    say("   by one group and one set of attributes, nobody may be linked to them above 20 %.")
    with helped(), progress_bar() as progress:
        with clock() as spent:
            release = anonymize(table, spec, seed=seed, progress=progress)
            seconds = spent()
        plain = anonymize(table, spec, method="anatomy", seed=seed, progress=progress)
    before, after = plain.audit, release.audit
    assert before is not None
    assert after is not None
    say(f"3. Anatomy with l = 5 looks safe, but {percent(before.problematic_share)} of those")
    say(f"   patients are linked above 20 %, and somebody with {percent(before.nearest_link)}.")
    groups = release.certificate["groups"]
    say(f"4. ART hides each of them among {groups['mean_with_event'] - 1:.1f} others on average:")
    say(
        f"   the link nearest to its limit is {percent(after.nearest_link)}, "
        f"{release.certificate['rows']['suppressed']:,} left out, in {seconds:.1f} s."
    )
    for check in after.checks:
        if check.name == WHOLE and check.worst is not None and check.limit is not None:
            say(
                f"   By all statistics together it is {percent(check.worst)}, where "
                f"{percent(check.limit)} is allowed."
            )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "release"
        release.save(folder)
        confirmed = verify(folder, table=frame).confirmed
    say(f"5. An independent check {'confirms' if confirmed else 'REFUTES'} the certificate.")
    facts = release_facts(release, table, repeat=Repeat(command_line(sys.argv[1:]), seed))
    page = render(facts)
    if out is None:
        with placed_together({ALONE: page}):
            pass
    else:
        with replace_folder(out, force=force, marker=TABLE_FILE) as new:
            write_table(frame, new / TABLE_FILE)
            release.save(new / "release", private=new / "private", facts=facts)
            (new / "spec.toml").write_text(spec.to_toml(), encoding="utf-8")
            (new / REPORT_FILE).write_text(page, encoding="utf-8")
        say(f"   Table, spec and release are in {out}.")
    written = (ALONE if out is None else out / REPORT_FILE).resolve()
    say(f"6. The report, one page to decide from: {written}")
    raise typer.Exit(0 if confirmed and after.robust else 1)
