"""Compiled loops of Injector: arrays in, arrays out."""
