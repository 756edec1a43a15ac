"""Several sensitive columns: two to eleven illnesses of a made-up survey, protected at once."""

from __future__ import annotations

from typing import Any

from benchmarks.stages import Say
from shoal import anonymize
from shoal.data.datasets import ILLNESSES, ILLNESSES_QI, illnesses
from shoal.data.spec import Spec

ROWS = 300_000
COLUMNS = (2, 5, 11)
STRENGTHS = (3.0, 5.0)


def measure_several(say: Say) -> list[dict[str, Any]]:
    """One line per number of columns and r."""
    frame, lines = illnesses(ROWS, seed=1), []
    for columns in COLUMNS:
        names = list(ILLNESSES)[:columns]
        events = [f"{name}=Yes" for name in names]
        for r in STRENGTHS:
            spec = Spec(qi=ILLNESSES_QI, sensitive=names, protect=events, r=r)
            release = anonymize(frame, spec, seed=0)
            rows, claims = release.certificate["rows"], release.certificate["method"]["claims"]
            assert release.audit is not None
            line = {
                "rows": ROWS,
                "columns": columns,
                "r": r,
                "robust": release.robust,
                "carriers": release.audit.carriers + rows["suppressed_with_event"],
                "suppressed": rows["suppressed"],
                "suppressed_with_event": rows["suppressed_with_event"],
                "alike_groups": claims["alike_groups"],
                "other_groups": claims["pure_groups"],
                "search_seconds": round(release.made.seconds["search"], 1),
                "audit_seconds": round(release.made.seconds["audit"], 1),
                "seconds": round(sum(release.made.seconds.values()), 1),
            }
            say(f"  {line}")
            lines.append(line)
    return lines
