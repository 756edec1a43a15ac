"""Places of many kinds of people, from what is known of their classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.anonymizers.art.kernels.fill import Known
from shoal.compiling import search_kernel


@search_kernel
def project(
    known: Known, logs: NDArray[np.float64], main: NDArray[np.float64], middle: NDArray[np.float64]
) -> NDArray[np.float32]:
    """kinds x features: the log odds of every kind, less the middle, along the main directions.

    logs: as known.odds; 0 for kinds that cannot be used. main: columns x features, as many of the
    first columns as count, each as long as its pressure. middle: of each feature.
    """
    features = main.shape[1]
    place, mine = np.empty((len(known.usable), features), np.float32), np.empty(features)
    for s in range(len(place)):
        for k in range(features):
            mine[k] = -middle[k]
        for w in range(len(main) if known.usable[s] else 0):
            log = logs[known.start[w] + known.stride[w] * known.row[s, known.part[w]]]
            for k in range(features):
                mine[k] += log * main[w, k]
        for k in range(features):
            place[s, k] = mine[k]
    return place
