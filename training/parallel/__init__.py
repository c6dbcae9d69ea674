"""Parallel text: read, cleaned and stored."""
