"""Compute MoverScore: word mover's distance between output and reference."""
