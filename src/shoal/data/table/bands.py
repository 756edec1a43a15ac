"""Bands of the numbers or dates of a QI, of about as many people each."""

from __future__ import annotations

import numpy as np

from shoal.arrays import IntArray, Whole
from shoal.data.table.table import Table


def bands_of(table: Table, place: int, bands: int, people: Whole | None = None) -> IntArray:
    """The band of each value of a QI with an order, from 1 on, each of about as many people; 0 of a
    missing one. Who has one value is in one band. It is cut by all people of the table, or by so
    many `people` of each signature."""
    column, rows = table.qi[place], table.signature_rows if people is None else people
    there = column.values.is_not_null().to_numpy()
    people = np.bincount(table.signatures[:, place], rows, len(column)) * there
    middle = (np.cumsum(people) - people / 2) / max(1.0, people.sum())
    band = np.minimum(middle * bands, bands - 1).astype(np.int32) + 1
    return np.where(there, band, 0).astype(np.int32)
