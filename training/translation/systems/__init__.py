"""Translations of test sets as work: asked for, done by workers, stored as systems."""
