"""Qualification: the comprehension test before the first item, and stops during the work."""
