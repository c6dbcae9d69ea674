"""Parallel text in, jobs and sweeps started, preferences analysed: one command a file."""
