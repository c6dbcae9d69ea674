"""Filters and tags for texts and numbers in templates of dashboards."""
