"""Sentinels trained here: what can be said of a score from the source, the output or lengths."""
