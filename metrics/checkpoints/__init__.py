"""Checkpoints as files: where they lie, on which hosts, their hashes, how to fetch them."""
