"""Arrays by what they hold: each has one name here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
IntArray = NDArray[np.int32]
"""Codes, and places among fewer than 2**31 of something."""
Ints = NDArray[np.int64]
"""How many people, and whatever else may be many."""
Words = NDArray[np.uint64]
"""64 bits each: hashes, and sets of few members."""
Whole = NDArray[np.integer]
"""Whole numbers of either width."""
