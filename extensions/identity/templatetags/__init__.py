"""Tags of the pages about signing in."""
