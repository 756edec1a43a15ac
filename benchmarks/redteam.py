"""The red team on releases of Adult by methods to compare ART with, and on the file that ARX made
of it; ART's own are attacked in the worst case (worst_case.py)."""

from __future__ import annotations

from typing import Any

from benchmarks.clock import timed
from benchmarks.settings import ARX_FILE, adult_frame, adult_spec, data_root
from benchmarks.stages import Say
from shoal.attacks import Attack
from shoal.data.sources import read_table
from shoal.data.table import Table
from shoal.data.table.hierarchy import adult_hierarchies
from shoal.errors import InputError
from shoal.groups import Anonymizer, silent
from shoal.knowledge import Knowledge
from shoal.planning.comparison.comparison import released_trial
from shoal.planning.comparison.trial import Trial, equip

R = 5.0
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "Anatomy": ("anatomy", {}),
    "Mondrian": ("mondrian", {}),
    "t-closeness": ("t-closeness", {}),
}
ARX = "ARX (10-diverse)"


def measure_redteam(say: Say) -> list[dict[str, Any]]:
    """One line per method, with what every attacker achieves on its release."""
    frame, lines = adult_frame(), []
    assert frame is not None
    table = Table.from_frame(frame, adult_spec(r=R))
    for name, (method, parameters) in METHODS.items():
        made = equip(method, parameters, adult_hierarchies())
        try:
            trial = Trial.run(table, made, seed=0)
        except InputError as error:
            lines.append({"method": name, "r": R, "failed": str(error)})
            continue
        lines.append(_attacked(name, trial, made, say))
    root = data_root()
    if root is not None and (root / ARX_FILE).is_file():
        theirs = released_trial(table, read_table(root / ARX_FILE), None)
        lines.append(_attacked(ARX, theirs, None, say))
    return lines


def _attacked(name: str, trial: Trial, method: Anonymizer | None, say: Say) -> dict[str, Any]:
    known = Knowledge.of(trial.table)
    found: Attack
    found, seconds = timed(lambda: trial.attacked(known, method, seed=0, progress=silent))
    beaten = ", ".join(found.beaten) or "nobody"
    say(f"  {name:<18} beaten by {beaten}; {seconds:.0f} s")
    return {"method": name, "r": R, "seconds": round(seconds, 1), **found.to_dict()}
