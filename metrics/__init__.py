"""Automatic metrics: scorers, runs and scores."""
