"""Sweeps: start jobs that differ in a few settings, compare and test them."""
