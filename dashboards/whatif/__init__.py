"""The pages on what other judgments, or more of them, would change."""
