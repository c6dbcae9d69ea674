"""The pages on how well a campaign was annotated."""
