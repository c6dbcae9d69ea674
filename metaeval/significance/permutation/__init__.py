"""Permutation tests between metrics: masks of swaps, and differences under every mask."""
