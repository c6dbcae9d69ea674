"""Plan how many judgments are needed."""
