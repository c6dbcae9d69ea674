"""A run of a metric from its start to its last score: slices, their texts, states, scoring."""
