"""Directories of mt-metrics-eval, version 2: what they hold, reading and writing them."""
