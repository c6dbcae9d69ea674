"""The page on scale, time and drift of a campaign."""
