"""Error spans that metrics find, or that were found elsewhere: stored beside the scores."""
