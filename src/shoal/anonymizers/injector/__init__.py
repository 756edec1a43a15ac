"""Injector: bucketization that heeds what people never have."""

from __future__ import annotations

from shoal.anonymizers.injector.injector import (
    Injector,
)

__all__ = [
    "Injector",
]
