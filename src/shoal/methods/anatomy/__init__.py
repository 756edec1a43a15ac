"""Anatomy: bucketization into groups where no event occurs twice."""

from __future__ import annotations

from shoal.methods.anatomy.anatomy import (
    Anatomy,
)

__all__ = [
    "Anatomy",
]
