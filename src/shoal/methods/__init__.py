"""Anonymizers: each turns a Table into a Grouping; none imports another (MASK starts from
Mondrian's classes)."""
