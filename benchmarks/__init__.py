"""Benchmarks: how fast each stage is, what ART and the baselines achieve on Adult, and what
insiders make of ART's groups.

`make bench` runs them all; `python -m benchmarks.readme` puts the figures into README.md.
"""
