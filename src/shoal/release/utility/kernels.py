"""Count queries, many at once: one bit per query says whether a signature matches it; and their
predicates laid out so.

Symbols: `W` words of 64 queries; `bits` (QI value, W) has a bit set where the query allows the
value; `coded` (signature, QI) points into the rows of `bits`; `weights` (query, value) is the part
of a published value that a query asks for; `out` (query) collects the counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Bools, Floats, IntArray, Ints, Words
from shoal.compiling import kernel


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


# 2 generates every remainder of 67, so that `power of two % 67` tells which power it is.
BIT_OF_REMAINDER = np.zeros(67, dtype=np.int64)
for _bit in range(64):
    BIT_OF_REMAINDER[2**_bit % 67] = _bit


@kernel
def answer_cells(
    coded: IntArray,
    cell_start: Ints,
    cell_value: IntArray,
    cell_rows: Floats,
    bits: Words,
    weights: Floats,
) -> Floats:
    """Adds up cells (signature, value, rows) of matching signatures, times the value's weight."""
    out = np.zeros(weights.shape[0])
    one, base = np.uint64(1), np.uint64(67)
    for s in range(coded.shape[0]):
        if cell_start[s] == cell_start[s + 1]:
            continue
        for w in range(bits.shape[1]):
            left = bits[coded[s, 0], w]
            for a in range(1, coded.shape[1]):
                left &= bits[coded[s, a], w]
            while left != 0:
                low = left & (~left + one)
                left ^= low
                q = w * 64 + BIT_OF_REMAINDER[np.int64(low % base)]
                total = 0.0
                for c in range(cell_start[s], cell_start[s + 1]):
                    total += cell_rows[c] * weights[q, cell_value[c]]
                out[q] += total
    return out


@kernel
def answer_classes(
    coded: IntArray,
    cell_start: Ints,
    cell_value: IntArray,
    cell_rows: Floats,
    overlap: Floats,
    weights: Floats,
) -> Floats:
    """Sums, over classes of ranges, the values asked for times the overlaps of all QI ranges.

    `coded` (class, QI) points into the rows of `overlap` (range, query): the share of a range's
    domain values that the query allows.
    """
    queries = weights.shape[0]
    out, share = np.zeros(queries), np.empty(queries)
    for g in range(coded.shape[0]):
        for q in range(queries):
            share[q] = overlap[coded[g, 0], q]
        for a in range(1, coded.shape[1]):
            share *= overlap[coded[g, a]]
        for q in range(queries):
            if share[q] > 0.0:
                held = 0.0
                for c in range(cell_start[g], cell_start[g + 1]):
                    held += cell_rows[c] * weights[q, cell_value[c]]
                out[q] += held * share[q]
    return out
