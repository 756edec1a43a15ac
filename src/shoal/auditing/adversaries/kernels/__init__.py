"""Compiled loops of the adversaries: arrays in, arrays out. They trust their input.

Symbols, as in the paper: N tuples in an A-group, S distinct signatures with `sizes` n_s,
V distinct published values with `counts` c_v, `weights` G_s(v).
"""
