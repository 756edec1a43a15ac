"""What several releases of the same people tell together."""

from __future__ import annotations

from shoal.auditing.releases.constraints import Constraints, Shown, shown_by
from shoal.auditing.releases.judge import judge_after, judge_releases
from shoal.auditing.releases.verdict import ReleasesVerdict

__all__ = ["Constraints", "ReleasesVerdict", "Shown", "judge_after", "judge_releases", "shown_by"]
