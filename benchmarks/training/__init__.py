"""Trainings and translation."""
