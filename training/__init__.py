"""Parallel text in, metrics out: jobs that fit projections and train metrics."""
