"""The page of every metric against every other."""
