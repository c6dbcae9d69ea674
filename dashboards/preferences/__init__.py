"""Preference analyses: the page of a test set, its form, and the table over all test sets."""
