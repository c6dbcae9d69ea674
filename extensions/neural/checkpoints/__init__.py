"""Score with released checkpoints: BLEURT, COMET with its sentinels, MetricX."""
