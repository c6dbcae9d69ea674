"""Compare the error spans of metrics with those that annotators marked."""
