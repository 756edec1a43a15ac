"""Predicates of many queries, laid out as the counting kernels take them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Bools, IntArray, Words


def offsets(stacked: Sequence[Bools]) -> IntArray:
    """Where each QI starts when all are stacked into one matrix."""
    return np.append(0, np.cumsum([len(one) for one in stacked])[:-1]).astype(np.int32)


def packed(allowed: Sequence[Bools], block: slice) -> Words:
    """Values of all QIs x words of 64 queries."""
    stacked = np.concatenate([one[:, block] for one in allowed])
    packed = np.packbits(stacked, axis=1, bitorder="little")
    padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8")
