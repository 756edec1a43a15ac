"""t-closeness by full-domain generalization."""

from shoal.methods.tcloseness.tcloseness import TCloseness as TCloseness
