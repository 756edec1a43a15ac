"""The paper's experiments: one small TOML file each, run cell by cell, drawn and described from
the numbers."""
