"""The page that compares campaigns with each other and with published scores."""
