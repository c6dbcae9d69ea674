"""IBM model 1: word translation probabilities, and their likelihood as a metric."""
