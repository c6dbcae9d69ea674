"""Pages of what machines score: metrics, models, workers, runs."""
