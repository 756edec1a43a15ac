"""The version of shoal, and of what it computes with."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

__version__ = "0.2.0"


@cache
def software() -> str:
    """The version and, behind a plus, a hash of the sources: between two versions words change."""
    digest, here = hashlib.sha256(), Path(__file__).parent
    for file in sorted(here.rglob("*.py")):
        digest.update(file.read_bytes())
    return f"shoal {__version__}+{digest.hexdigest()[:12]}"


def versions() -> dict[str, str]:
    """What a reader needs to repeat a run: shoal, Python and the libraries that compute."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    known = {"shoal": __version__, "python": platform.python_version()}
    for name in ("numpy", "numba", "polars", "scipy"):
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            continue
    return known
