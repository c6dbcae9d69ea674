"""Show how results would change with other judgments, or with more of them."""
