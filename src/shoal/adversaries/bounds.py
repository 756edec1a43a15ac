"""Certified bounds on joint posteriors, for groups of any size."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.adversaries.group import Group
from shoal.adversaries.kernels.swap import swap_bounds


def joint_bounds(
    distributions: ArrayLike, values: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper bounds of every joint posterior (arguments as in `joint_posterior`)."""
    group = Group.of(distributions, values)
    bounds = [
        swap_bounds(group.weights, group.sizes, group.counts, x) for x in range(len(group.present))
    ]
    width = np.shape(distributions)[1]
    lower = np.column_stack([low for low, _ in bounds])
    upper = np.column_stack([high for _, high in bounds])
    return group.spread(lower, width), group.spread(upper, width)
