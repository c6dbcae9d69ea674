"""Errors marked beforehand: what an annotator is shown of them, and what becomes of each."""
