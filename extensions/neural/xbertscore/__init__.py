"""Compute XBERTScore: greedy matching of output and source under a multilingual encoder."""
