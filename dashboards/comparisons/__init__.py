"""Comparisons of metrics by one statistic: what is computed, and what a reader chooses of it."""
