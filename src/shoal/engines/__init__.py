"""Engines: the only code that touches rows."""
