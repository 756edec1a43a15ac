"""Pages of the documentation that are made from the source: `python -m tools [--check]`."""
