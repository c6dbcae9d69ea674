"""The list of campaigns, where researchers start."""
