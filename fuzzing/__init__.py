"""Long trials by chance: kills at any moment, and files that were damaged on purpose."""
