"""Checkpoints of all machines: metrics that need them, hosts that have them, their hashes."""
