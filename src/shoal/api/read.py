"""read: a release, for whoever received it."""

from __future__ import annotations

from pathlib import Path

from shoal.release import Release


def read(folder: str | Path) -> Release:
    """Reads the folder of a release, to count in it, list it by weights, or draw plausible tables.

    Nothing is checked here; `shoal.verify` says whether a release is what it claims to be.

    Args:
        folder: The folder of the release.

    Returns:
        The release: `count`, `table` and `draw` give figures that are right by what is published.

    Raises:
        InputError: The folder cannot be read as a release.

    >>> import shoal
    >>> hospital = shoal.datasets.hospital(2000, seed=0)
    >>> spec = shoal.Spec(qi=["sex", "region"], sensitive="diagnosis", protect=["HIV"], r=5)
    >>> shoal.anonymize(hospital, spec).save("release")
    >>> release = shoal.read("release")
    >>> release.count({"sex": "Male"}) == hospital["sex"].eq("Male").sum()
    True
    >>> len(release.draw(5))
    5
    """
    return Release.load(folder)
