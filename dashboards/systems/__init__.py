"""Rank the MT systems by the humans and by metrics."""
