"""Injector: bucketization that heeds what people never have."""

from __future__ import annotations

from shoal.methods.injector.injector import (
    Injector,
)

__all__ = [
    "Injector",
]
