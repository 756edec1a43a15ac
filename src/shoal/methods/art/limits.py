"""How far a link may go, as what a posterior is multiplied with to be compared with 1."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats


def strengths(r: float, chance: Floats, *, prior: bool) -> Floats:
    """r, or under the honest limit one over what is known of an event beforehand, where that is
    more than 1/r."""
    strength = np.full(chance.shape, r)
    if prior:
        known = chance * r > 1.0
        strength[known] = 1.0 / chance[known]
    return strength
