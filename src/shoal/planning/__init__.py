"""Before any run: which r is possible, what stands in the way, Theorem 1."""
