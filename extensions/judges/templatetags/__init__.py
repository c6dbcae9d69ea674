"""Tags of judges on pages of the core."""
