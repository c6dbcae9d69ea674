"""The demo, and results of sweeps: one command a file."""
