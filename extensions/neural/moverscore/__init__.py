"""Compute MoverScore, and word mover's distance over static word vectors."""
