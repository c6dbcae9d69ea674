"""Metrics fitted to scores: one command a file."""
