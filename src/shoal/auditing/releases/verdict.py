"""What came of judging several releases together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Bools
from shoal.auditing.checks import robustness
from shoal.display import number
from shoal.wording import EXIT_CODES, people

KEPT, OPEN, ABOVE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class ReleasesVerdict:
    """What readers of one view know of everybody who is in any of some releases."""

    releases: int
    people: int
    """Who are in at least one of them."""
    certain: int
    """People of whom no other value than a protected one is left."""
    above: int
    """People above their limit for sure, the certain ones among them."""
    undecided: int
    """People of whom neither can be shown: their groups overlap too widely for exact posteriors,
    and bounds do not decide."""
    told: int
    """People above their limit, or not decided, by releases before the last alone, about whom the
    last adds nothing."""
    told_certain: int
    """Those of them who are certain."""
    worst: float
    """The largest posterior that is known exactly."""
    groups_alone: int
    """Groups that overlap with no other, each judged as in one release."""
    groups_exact: int
    """Overlapping groups of small components, judged exactly together."""
    groups_bounded: int
    """Overlapping groups of large components, of which there are bounds only."""
    state: NDArray[np.int8]
    """Of each row of the table: 0 within the limit or in no release, 1 undecided, 2 above."""
    sure: Bools
    """Of each row: whether it is certain."""

    @property
    def robust(self) -> bool | None:
        """Whether nobody is above their limit by all releases together; None: not decided."""
        return robustness(breach=self.above > 0, undecided=self.undecided > 0)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.robust]

    @property
    def words(self) -> str:
        """The figures in words."""
        return (
            f"{people(self.above)} above their limit by {self.releases:,} releases together, "
            f"{self.certain:,} of them certain; {self.undecided:,} not decided; the largest exact "
            f"posterior is {number(self.worst)}"
        )

    def public(self) -> dict[str, Any]:
        """The figures of a certificate."""
        named = ("above", "undecided", "told", "told_certain")
        return {"kept": self.robust, **{name: getattr(self, name) for name in named}}

    def to_dict(self) -> dict[str, Any]:
        """The figures that anybody may know."""
        plain = {k: v for k, v in vars(self).items() if k not in ("state", "sure")}
        return {"robust": self.robust, **plain}
