"""One module per command: configure metrics, import scores, run metrics, manage checkpoints."""
