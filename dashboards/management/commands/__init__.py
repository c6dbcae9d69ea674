"""One module per command: the demo, and results of sweeps."""
