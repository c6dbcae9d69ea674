"""Significance of differences between correlations, and intervals for them."""
