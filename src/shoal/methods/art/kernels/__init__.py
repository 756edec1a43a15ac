"""Compiled loops of the search: arrays in, arrays out."""
