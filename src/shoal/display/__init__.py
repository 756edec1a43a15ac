"""How objects show themselves: a few lines of text, and a card in a notebook."""

from __future__ import annotations

from shoal.display.card import card
from shoal.display.histogram import risk_histogram
from shoal.display.text import at_r, counted, number

__all__ = ["at_r", "card", "counted", "number", "risk_histogram"]
