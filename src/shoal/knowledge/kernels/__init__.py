"""Compiled loops of what is known beforehand."""
