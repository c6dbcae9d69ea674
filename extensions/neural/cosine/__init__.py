"""Compute the cosine of two sentence vectors."""
