"""The page of the MT systems."""
