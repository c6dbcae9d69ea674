"""Checkpoints over all machines: who needs them, which hosts have them, are they whole."""
