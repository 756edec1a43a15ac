"""Benchmarks: how fast each stage is, and what ART and the baselines achieve on Adult.

`make bench` runs them all; `python -m benchmarks.readme` puts the figures into README.md.
"""
