"""Metrics, runs, data sets and workers for programs, under /api/."""
