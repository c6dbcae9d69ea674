"""Texts that are worse by construction, for contrast in trainings and for preference analyses."""
