"""Mondrian: k-anonymity by cutting the table's space into boxes."""

from shoal.methods.mondrian.mondrian import Mondrian as Mondrian
