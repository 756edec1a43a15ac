"""Compiled loops of the adversaries: arrays in, arrays out."""
