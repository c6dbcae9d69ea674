"""The pages on how many judgments are needed."""
