"""Automatic metrics: scorers, runs, scores."""
