"""Metrics configured, scores brought in, runs, checkpoints: one command a file."""
