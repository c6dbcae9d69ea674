"""Cosine of two sentence vectors."""
