"""The version of shoal, and of what it computes with."""

__version__ = "0.2.0"


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
