"""The judge: is a grouping robust, who is exposed, through what, by how much."""
