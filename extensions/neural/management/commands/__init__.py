"""Metrics fitted to scores: one command per file."""
