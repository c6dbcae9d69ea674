"""Metrics and the engine that runs them, against the official packages."""
