"""Hostile requests to every address: bounded, and the same in every run."""
