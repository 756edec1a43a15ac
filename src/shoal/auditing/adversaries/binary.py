"""The binary adversary: one event against the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats
from shoal.auditing.adversaries.group import no_world
from shoal.errors import InputError
from shoal.knowledge.kernels.bernoulli import conditional_bernoulli


def binary_posterior(f: ArrayLike, count: int) -> Floats:
    """p(t_j:x) for every tuple of an A-group in which `count` tuples have x.

    `f` holds each tuple's global probability of x. A tuple with f = 0 never has x, one with f = 1
    always has it. Exact, in work proportional to the tuples times the spread of the count.

    >>> import shoal
    >>> shoal.binary_posterior([0.1, 0.2, 0.2], 1).round(3)
    array([0.182, 0.409, 0.409])
    """
    chances = np.asarray(f, dtype=np.float64)
    if chances.ndim != 1 or not len(chances) or not ((chances >= 0) & (chances <= 1)).all():
        raise InputError(
            "binary-f", "f is no list of probabilities.", "Give a probability per tuple."
        )
    if not 0 <= count <= len(chances) or count != int(count):
        raise InputError(
            "binary-count",
            f"{count} of {len(chances)} tuples cannot have the value.",
            "Give a whole number from 0 to the number of tuples.",
        )
    distinct, member, sizes = np.unique(chances, return_inverse=True, return_counts=True)
    posterior = conditional_bernoulli(distinct, 1.0 - distinct, sizes, int(count))
    if np.isnan(posterior).any():
        raise no_world()
    return np.asarray(posterior[member])
