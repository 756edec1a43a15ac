"""Charts: plain records in, Vega-Lite specs out, in one theme."""
