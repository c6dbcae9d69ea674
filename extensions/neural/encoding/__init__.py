"""Models at work: loaded, kept in memory, in which precision, and their vectors. Torch."""
