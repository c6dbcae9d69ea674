"""The page of a campaign at a glance."""
